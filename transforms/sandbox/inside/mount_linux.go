package inside

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// buildRoot makes job.Root the root of this mount namespace. Afterwards the
// file tree is:
//
//	/bin /lib /usr ... GOROOT   of the host, read-only; links stay links
//	/testbed                    the workspace, writable
//	/tmp                        fresh, bounded
//	/cache                      the warm build cache under a fresh upper layer, both bounded by TmpBytes
//	/dev                        null, zero, full, random, urandom
//	/proc                       of this pid namespace
//	/etc                        passwd, group, hosts made here; links of alternatives
//
// and everything else is absent. No mount follows devices or set-user-id bits,
// but the five devices.
func buildRoot(job *Job) error {
	const nosuid = unix.MS_NOSUID
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return step("making mounts private", err)
	}
	root := job.Root
	if err := unix.Mount("root", root, "tmpfs", nosuid|unix.MS_NODEV, "mode=755,size=1m,nr_inodes=4k"); err != nil {
		return step("mounting the root", err)
	}
	for _, path := range job.ReadOnly {
		if err := bindReadOnly(root, path); err != nil {
			return err
		}
	}
	if err := bind(job.Workspace, root+Testbed, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	size := "size=" + strconv.FormatUint(job.Limits.TmpBytes, 10) + ",nr_inodes=200k"
	if err := mountTmp(root, size); err != nil {
		return err
	}
	if err := mountCache(job, root, size); err != nil {
		return err
	}
	if err := makeDev(root); err != nil {
		return err
	}
	if err := os.Mkdir(root+"/proc", 0o555); err != nil {
		return step("making /proc", err)
	}
	err := unix.Mount("proc", root+"/proc", "proc", nosuid|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err != nil && err != unix.EPERM {
		return step("mounting /proc", err)
	} // EPERM: the host hides parts of its own /proc (a container); then ours stays empty
	if err := makeEtc(root); err != nil {
		return err
	}
	return enter(root)
}

// enter pivots to root and drops the old tree.
func enter(root string) error {
	if err := unix.Chdir(root); err != nil {
		return step("entering the root", err)
	}
	// With both arguments the same, the old root ends up mounted over the new
	// one and can be detached by ".": no directory for it is needed (pivot_root(2)).
	if err := unix.PivotRoot(".", "."); err != nil {
		return step("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return step("detaching the old root", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return step("entering /", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	return step("making the root read-only", unix.MountSetattr(unix.AT_FDCWD, "/", 0, &attr))
}

// bind makes the host directory source visible at target, with attributes on
// it and on every mount below it.
func bind(source, target string, attributes uint64) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return step("making the mount point of "+source, err)
	}
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return step("binding "+source, err)
	}
	attr := unix.MountAttr{Attr_set: attributes}
	err := unix.MountSetattr(unix.AT_FDCWD, target, unix.AT_RECURSIVE, &attr)
	return step("setting mount attributes of "+source+" (Linux 5.12 or later is needed)", err)
}

// bindReadOnly shows path of the host at the same path. A link is copied as
// one, and what does not exist is left out.
func bindReadOnly(root, path string) error {
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err):
		return nil
	case err != nil:
		return step("looking at "+path, err)
	case info.Mode()&os.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return step("reading link "+path, err)
		}
		return step("copying link "+path, os.Symlink(target, root+path))
	}
	return bind(path, root+path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

func mountTmp(root, size string) error {
	tmp := root + "/tmp"
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return step("making /tmp", err)
	}
	if err := unix.Mount("tmp", tmp, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,"+size); err != nil {
		return step("mounting /tmp", err)
	}
	return mkdirOpen(root + Home)
}

// mkdirOpen makes a directory that the command's user can write to, whoever
// that is: nobody else is in the sandbox.
func mkdirOpen(path string) error {
	if err := os.Mkdir(path, 0o777); err != nil {
		return step("making "+path, err)
	}
	return step("opening "+path, os.Chmod(path, 0o777)) // past the umask
}

// mountCache lays a fresh upper layer over the warm build cache, so that no
// command finds what another left in it.
func mountCache(job *Job, root, size string) error {
	cache := root + CacheDir
	if err := os.Mkdir(cache, 0o755); err != nil {
		return step("making "+CacheDir, err)
	}
	if err := unix.Mount("cache", cache, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,"+size); err != nil {
		return step("mounting "+CacheDir, err)
	}
	if job.Cache == "" || !job.Overlay {
		return step("opening "+CacheDir, os.Chmod(cache, 0o777))
	}
	if err := mkdirOpen(cache + "/upper"); err != nil {
		return err
	}
	if err := mkdirOpen(cache + "/work"); err != nil {
		return err
	}
	// The overlay covers the file system that holds its upper layer, so the
	// layers have no other name.
	options := "userxattr,lowerdir=" + escapeOption(job.Cache) + ",upperdir=" + escapeOption(cache+"/upper") + ",workdir=" + escapeOption(cache+"/work")
	err := unix.Mount("cache", cache, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
	return step("mounting the overlay of "+CacheDir, err)
}

// escapeOption quotes the characters that separate overlay options and layers.
func escapeOption(path string) string {
	return strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace(path)
}

func makeDev(root string) error {
	dev := root + "/dev"
	if err := os.Mkdir(dev, 0o755); err != nil {
		return step("making /dev", err)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		if err := os.WriteFile(dev+"/"+name, nil, 0o644); err != nil {
			return step("making /dev/"+name, err)
		}
		if err := unix.Mount("/dev/"+name, dev+"/"+name, "", unix.MS_BIND, ""); err != nil {
			return step("binding /dev/"+name, err)
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, dev+"/"+name); err != nil {
			return step("making /dev/"+name, err)
		}
	}
	return nil
}

func makeEtc(root string) error {
	etc := root + "/etc"
	if err := os.Mkdir(etc, 0o755); err != nil {
		return step("making /etc", err)
	}
	nobody := strconv.Itoa(Nobody)
	for name, text := range map[string]string{
		"passwd": "root:x:0:0::" + Home + ":/bin/sh\nnobody:x:" + nobody + ":" + nobody + "::" + Home + ":/bin/sh\n",
		"group":  "root:x:0:\nnogroup:x:" + nobody + ":\n",
		"hosts":  "127.0.0.1 localhost sandbox\n::1 localhost\n",
	} {
		if err := os.WriteFile(etc+"/"+name, []byte(text), 0o644); err != nil {
			return step("writing /etc/"+name, err)
		}
	}
	return bindReadOnly(root, "/etc/alternatives") // where Debian keeps the links behind awk and its like
}
