package say

import "fmt"

// Listed joins at most ten names by commas.
func Listed(names []string) string {
	s := ""
	for k, name := range names {
		switch {
		case k == 10:
			return s + fmt.Sprintf(" and %d more", len(names)-k)
		case k > 0:
			s += ", "
		}
		s += name
	}
	return s
}
