package stream

// SetBlockedRows changes how many support vectors Blocked holds, and returns the number before.
func SetBlockedRows(n int64) (before int64) {
	before, blockedRows = blockedRows, n
	return before
}
