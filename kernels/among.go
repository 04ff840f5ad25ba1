package kernels

// dearFeatures is the number of features from which a kernel value that is known is worth
// its memory. With fewer it takes no longer to compute a value again than to fetch it from
// memory.
const dearFeatures = 96

// InBlocks reports whether products of matrices give the kernel's values in single
// precision. Where they do not, a method had better ask for rows.
func (g *Gram) InBlocks() bool { return inBlocks(g).quick != nil }

// among is the memory of Among.
type among struct {
	before []int32 // by point: its place in the working set before, from 1; 0 between calls
	twin   []int32 // by place in the working set before: another place of the same point
	kept   []kept  // the points that stay
	runs   []kept  // the same, those that follow each other joined
	fresh  []int32 // the places of the points that are new
}

// kept says that n points at the places from, from+1 … of the working set before are at
// the places to, to+1 … of the new one.
type kept struct{ to, from, n int32 }

// Among sets dst[k·q+l] to the kernel value of the points idx[k] and idx[l] in single
// precision, q = len(idx). A point may be there twice.
//
// It is for working sets, most of whose points stay from one to the next. was has the
// values among the points of the set before, of, as an earlier call has set them; what is
// on its diagonal does not matter. Values of pairs that stay are copied from there where
// that costs less than to compute them. dst and was share no memory unless of is empty.
func (g *Gram) Among(dst []float32, idx []int, was []float32, of []int) {
	defer named(g.order)
	b, q := inBlocks(g), len(idx)
	if b.quick == nil {
		b.inParts(g, idx, func(from int, held [][]float32) {
			for k, row := range held {
				for l, j := range idx {
					dst[(from+k)*q+l] = row[j]
				}
			}
		})
		return
	}
	if b.features < dearFeatures {
		of = nil
	}
	b.compare(g, idx, of)
	b.into, b.missing = b.into[:0], b.missing[:0]
	for _, k := range b.fresh {
		b.into, b.missing = append(b.into, dst[int(k)*q:][:q]), append(b.missing, idx[k])
	}
	g.evaluations += int64(len(b.fresh)) * int64(q)
	b.quick.among(g, b.into, b.missing, idx)
	b.copyKept(dst, q, was, len(of))
	for k, i := range idx {
		dst[k*q+k] = float32(g.diag[i])
	}
}

// compare finds which points of the working set idx are in the set before, of.
func (b *blocks) compare(g *Gram, idx, of []int) {
	if b.before == nil {
		b.before = make([]int32, g.n)
	}
	b.twin = sized(b.twin, len(of))
	for k, i := range of {
		b.twin[k], b.before[i] = b.before[i], int32(k)+1
	}
	b.kept, b.runs, b.fresh = b.kept[:0], b.runs[:0], b.fresh[:0]
	for k, i := range idx {
		if at := b.before[i]; at > 0 {
			b.before[i] = b.twin[at-1]
			b.keep(kept{int32(k), at - 1, 1})
		} else {
			b.fresh = append(b.fresh, int32(k))
		}
	}
	for _, i := range of {
		b.before[i] = 0
	}
}

func (b *blocks) keep(c kept) {
	b.kept = append(b.kept, c)
	if last := len(b.runs) - 1; last >= 0 && b.runs[last].to+b.runs[last].n == c.to && b.runs[last].from+b.runs[last].n == c.from {
		b.runs[last].n++
	} else {
		b.runs = append(b.runs, c)
	}
}

// copyKept fills in the rows of the points that stay: from was, q × q, the values with
// each other, and by symmetry, from rows that are there already, those with the points
// that are new.
func (b *blocks) copyKept(dst []float32, q int, was []float32, before int) {
	const some = 8 // rows at a time, for a column of them to stay in the first-level cache
	tasks := (len(b.kept) + some - 1) / some
	share(threads(tasks), tasks, func(_, task int) {
		rows := b.kept[task*some : min((task+1)*some, len(b.kept))]
		for _, r := range rows {
			row, old := dst[int(r.to)*q:][:q], was[int(r.from)*before:][:before]
			for _, c := range b.runs {
				copy(row[c.to:][:c.n], old[c.from:])
			}
		}
		for _, l := range b.fresh {
			mirror := dst[int(l)*q:][:q]
			for _, r := range rows {
				dst[int(r.to)*q+int(l)] = mirror[r.to]
			}
		}
	})
}
