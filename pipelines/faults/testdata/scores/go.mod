module example.com/scores

go 1.26
