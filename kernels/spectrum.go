package kernels

import (
	"slices"
	"strconv"
)

// SpectrumKernel compares the substrings of k letters; see [Spectrum].
type SpectrumKernel struct {
	K      int  // number of letters in a substring, ≥ 1
	Counts bool // true if K is not divided by its norms
}

func init() {
	register("Spectrum", ofWhole(1, func(k int, _ []float64) Kernel { return Spectrum(k) }))
	register("Spectrum.Raw()", ofWhole(1, func(k int, _ []float64) Kernel { return Spectrum(k).Raw() }))
}

// Spectrum returns the kernel of strings whose features count how often each substring u of k
// letters occurs, K(x, z) = Σ_u #_u(x) #_u(z) (Leslie, Eskin and Noble 2002; Ng's notes,
// section 7). It is normalised: K(x, x) = 1, so that long strings have no advantage. A string
// of fewer than k letters has K = 0 with all strings. [SpectrumKernel.Raw] is the sum without
// normalisation. Points are made by [Strings]. Sums over several k are kernels too.
//
// With an alphabet of l letters there are l^k substrings (26⁴ = 456,976, which Ng rounds to
// 460,000). Only those that occur are visited: the sorted lists of two strings are merged, in
// O(k(|x| + |z|)) steps.
func Spectrum(k int) SpectrumKernel { return SpectrumKernel{K: k} }

// Raw returns the kernel without normalisation.
func (k SpectrumKernel) Raw() SpectrumKernel { k.Counts = true; return k }

// Compare returns K of two strings.
func (k SpectrumKernel) Compare(a, b string) float64 { return compare(k, a, b) }

// Eval returns K of two points made by [Strings].
func (k SpectrumKernel) Eval(x, z []float64) float64 {
	a, b := k.spectrum(x), k.spectrum(z)
	if k.Counts {
		return a.dot(b)
	}
	return cosine(a.dot(b), a.dot(a), b.dot(b))
}

// spectrum is the sorted list of the substrings of k letters that occur in a string.
type spectrum []occurring

type occurring struct {
	letters []float64
	times   float64
}

func (k SpectrumKernel) spectrum(x []float64) spectrum {
	x = letters(x)
	if len(x) < k.K {
		return nil
	}
	s := make(spectrum, len(x)-k.K+1)
	for i := range s {
		s[i] = occurring{x[i : i+k.K], 1}
	}
	slices.SortFunc(s, func(a, b occurring) int { return slices.Compare(a.letters, b.letters) })
	distinct := s[:1]
	for _, o := range s[1:] {
		if last := &distinct[len(distinct)-1]; slices.Equal(o.letters, last.letters) {
			last.times++
		} else {
			distinct = append(distinct, o)
		}
	}
	return distinct
}

// dot returns Σ_u #_u(a) #_u(b), a whole number.
func (a spectrum) dot(b spectrum) float64 {
	var sum float64
	for len(a) > 0 && len(b) > 0 {
		switch slices.Compare(a[0].letters, b[0].letters) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			sum += float64(a[0].times * b[0].times)
			a, b = a[1:], b[1:]
		}
	}
	return sum
}

// CheckPoints returns a *[DataError] for the first feature that is not a letter.
func (k SpectrumKernel) CheckPoints(x [][]float64) error { return checkStrings(k, x) }

// Check returns a *[ParamError] unless k ≥ 1.
func (k SpectrumKernel) Check() error { return checkLength("Spectrum", k.K) }

func (k SpectrumKernel) String() string {
	s := "Spectrum(" + strconv.Itoa(k.K) + ")"
	if k.Counts {
		s += ".Raw()"
	}
	return s
}

type spectrumRower struct {
	k       SpectrumKernel
	spectra []spectrum
}

func (k SpectrumKernel) rower(p *points) rower {
	r := spectrumRower{k, make([]spectrum, p.n)}
	for j, x := range p.all() {
		r.spectra[j] = k.spectrum(slices.Clone(x))
	}
	if k.Counts {
		return r
	}
	return newCosineRower(r, p)
}

func (r spectrumRower) row(dst, x []float64, _ *work) {
	s := r.k.spectrum(x)
	for j := range dst {
		dst[j] = s.dot(r.spectra[j])
	}
}

func (r spectrumRower) self(x []float64, _ *work) float64 {
	s := r.k.spectrum(x)
	return s.dot(s)
}

func (r spectrumRower) swap(s, t int) { r.spectra[s], r.spectra[t] = r.spectra[t], r.spectra[s] }
