package kernels

// dearFeatures is the number of features from which keeping a kernel value pays. With fewer
// features, computing the value again is as fast as fetching it from memory.
const dearFeatures = 96

// InBlocks reports whether products of matrices give the kernel's values in single precision.
// If not, a method should ask for rows.
func (g *Gram) InBlocks() bool { return inBlocks(g).quick != nil }

// among has memory that calls of Among reuse.
type among struct {
	before []int32 // for each point, its place in the last working set, counted from 1; 0 between calls
	twin   []int32 // for each place in the last working set, another place of the same point
	kept   []kept  // the points that stay
	runs   []kept  // kept, with neighbours joined
	fresh  []int32 // the places of the new points
}

// kept says that n points at the places from, from+1 … of the last working set are at the
// places to, to+1 … of the new one.
type kept struct{ to, from, n int32 }

// Among sets dst[k·q+l] to the kernel value of the points idx[k] and idx[l] in single
// precision, where q = len(idx). A point may occur twice.
//
// It is meant for working sets, most of whose points stay from one to the next. The slice was
// may hold the result of an earlier call for the last working set, whose points are in the
// list of; its diagonal is not read. Values of pairs that stay are copied from it if this
// costs less than computing them. It must not overlap dst, unless the list of is empty.
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
	b.quick.among(g, dst, b.into, b.missing, idx)
	b.copyKept(dst, q, was, len(of))
	for k, i := range idx {
		dst[k*q+k] = float32(g.diag[i])
	}
}

// compare finds which points of the working set idx were in the last one, whose points are in
// the list of.
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

// copyKept fills in the rows of the points that stay. Their values with each other come from
// the slice was, a square matrix with before rows. Their values with new points come, by
// symmetry, from the rows of the new points.
func (b *blocks) copyKept(dst []float32, q int, was []float32, before int) {
	const some = 8 // number of rows at a time: one column of them stays in the first-level cache
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
