// Package groups tests consumer groups from outside: real clients that share a topic, members that come and go, committed
// offsets over kill -9, many groups at once. The invariants: no record is lost, none is read twice but for those read and
// not yet committed when a partition changed hands, no two members own a partition in one generation, and what was
// acknowledged as committed is never older afterwards.
//
// Files: balance_test.go assignors under change; clients_test.go every client library; kill_test.go crashes;
// crowd_test.go several groups, idle members, a member that dies; storm_test.go many groups; scripts/ members in other languages;
// common_test.go helpers.
package groups
