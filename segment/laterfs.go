package segment

import "millrace/vfs"

// laterFS writes files without syncs and keeps their names for later. A SyncDir parts the names: those asked for behind it
// may be given only when those before it are durable. Owned by one goroutine.
type laterFS struct {
	vfs.FS
	rounds [][]rename
	parted bool // the next name begins a round
}

type rename struct{ from, to string }

// laterFile leaves the sync to whoever syncs the file system.
type laterFile struct{ vfs.File }

func (laterFile) Datasync() error { return nil }

func (f *laterFS) CreateTrunc(name string) (vfs.File, error) {
	file, err := f.FS.CreateTrunc(name)
	if err != nil {
		return nil, err
	}
	return laterFile{file}, nil
}

func (f *laterFS) Open(name string) (vfs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return laterFile{file}, nil
}

func (f *laterFS) Rename(from, to string) error {
	if f.parted || len(f.rounds) == 0 {
		f.rounds, f.parted = append(f.rounds, nil), false
	}
	last := len(f.rounds) - 1
	f.rounds[last] = append(f.rounds[last], rename{from, to})
	return nil
}

func (f *laterFS) SyncDir(string) error {
	f.parted = true
	return nil
}

// step gives the names of one round; false when none is left.
func (f *laterFS) step() (more bool, err error) {
	if len(f.rounds) == 0 {
		return false, nil
	}
	for _, r := range f.rounds[0] {
		if err := f.FS.Rename(r.from, r.to); err != nil {
			return false, err
		}
	}
	f.rounds = f.rounds[1:]
	return len(f.rounds) > 0, nil
}
