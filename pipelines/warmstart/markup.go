package warmstart

import (
	"slices"

	"millrace/kernels/tokenizer"
)

// markup are runs of the tools' XML that become one token each, as does
// [listOperators]. They carry no choice of their own, and a policy this small has
// better use for its context. Longer runs come first in matching, so the order
// does not matter.
var markup = []string{
	"<function=file_editor>\n<parameter=command>",
	"<function=execute_bash>\n<parameter=cmd>",
	"<function=search>\n<parameter=search_term>",
	"<function=finish>\n</function>",
	"</parameter>\n<parameter=path>",
	"</parameter>\n<parameter=old_str>",
	"</parameter>\n<parameter=new_str>",
	"</parameter>\n<parameter=insert_line>",
	"</parameter>\n<parameter=file_text>",
	"</parameter>\n<parameter=view_range>",
	"</parameter>\n</function>",
	"<function=",
	"<parameter=",
}

// control are the tokens that ChatML needs.
var control = []string{tokenizer.EndOfText, tokenizer.MessageStart, tokenizer.MessageEnd}

// fixed are all tokens that no training finds.
var fixed = slices.Concat(control, markup, []string{listOperators})
