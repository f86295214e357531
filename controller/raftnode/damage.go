package raftnode

import "fmt"

// Error says where the damage is and what can be done.
func (e *DamageError) Error() string {
	return fmt.Sprintf("raftnode: metadata is damaged: %s, byte %d: %s; this is not what a crash leaves behind. "+
		"Nothing was changed. Check the disk, and restore the directory from a backup or from another node", e.File, e.Offset, e.What)
}
