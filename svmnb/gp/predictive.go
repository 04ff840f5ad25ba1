package gp

import (
	"math"
)

// predictive is the distribution of a new target.
type predictive interface {
	mean() float64
	quantile(p float64) float64
	logDensity(y float64) float64
}

// normals is a mixture of normal distributions of one mean.
type normals struct {
	centre           float64
	variance, weight []float64 // the weights have the sum 1
}

func (m normals) mean() float64 { return m.centre }

// quantile searches by halves in the upper half of the distribution, which is symmetric.
func (m normals) quantile(p float64) float64 {
	if p < 0.5 {
		return 2*m.centre - m.quantile(1-p)
	}
	above := func(d float64) (sum float64) { // the probability of more than centre + d
		for i, v := range m.variance {
			sum += m.weight[i] * normal(-d/math.Sqrt(v))
		}
		return sum
	}
	low, high := 0.0, 0.0
	for i, v := range m.variance {
		high += m.weight[i] * math.Sqrt(v)
	}
	for high > 0 && high < math.MaxFloat64/2 && above(high) > 1-p {
		low, high = high, 2*high
	}
	for range 60 {
		mid := (low + high) / 2
		if mid <= low || mid >= high || high-low < 1e-12*high {
			break
		}
		if above(mid) > 1-p {
			low = mid
		} else {
			high = mid
		}
	}
	return m.centre + (low+high)/2
}

func (m normals) logDensity(y float64) float64 {
	terms, most := make([]float64, len(m.variance)), math.Inf(-1)
	d := y - m.centre
	for i, v := range m.variance {
		terms[i] = math.Log(m.weight[i]) - math.Log(2*math.Pi*v)/2 - d*d/v/2
		most = max(most, terms[i])
	}
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - most)
	}
	return most + math.Log(sum)
}

// spread returns the distribution of y = f + σt for a normal f. Student's t is a normal variable of
// variance 1/g, where g has a gamma distribution of shape and rate ν/2; the trapezoidal rule over ln
// g has an error of about 10⁻¹³.
func (l studentT) spread(mean, variance, noise float64) predictive {
	m := normals{centre: mean}
	wide := math.Sqrt(2 / l.nu)
	step := min(0.25, wide/2)
	total := 0.0
	for u := -80/l.nu - 30*wide; u < math.Log1p(90/l.nu+10*wide)+0.5; u += step {
		w := math.Exp(l.nu / 2 * (u - math.Expm1(u)))
		if !(w > 1e-130) { // far targets see the smallest weights
			continue
		}
		m.variance, m.weight = append(m.variance, variance+noise*math.Exp(-u)), append(m.weight, w)
		total += w
	}
	for i := range m.weight {
		m.weight[i] /= total
	}
	return m
}

// standard has places of a standard normal variable and their weights by the trapezoidal rule.
func standard(step float64, do func(z, weight float64)) {
	const far = 8.5 // the rest has a probability of 2e-17
	n := int(math.Ceil(far / step))
	total := 0.0
	for i := -n; i <= n; i++ {
		total += math.Exp(-step * float64(i) * step * float64(i) / 2)
	}
	for i := -n; i <= n; i++ {
		z := step * float64(i)
		do(z, math.Exp(-z*z/2)/total)
	}
}

// varying returns the distribution of y = f + e, where f and the logarithm of the variance of e are
// normal.
func varying(mean, variance, logMean, logVariance float64) predictive {
	m := normals{centre: mean}
	sd := math.Sqrt(logVariance)
	standard(min(0.25, 0.5/max(sd, 1)), func(z, w float64) {
		m.variance, m.weight = append(m.variance, variance+math.Exp(logMean+sd*z)), append(m.weight, w)
	})
	return m
}

// counts is the distribution of a Poisson variable of rate e^f for a normal f.
type counts struct{ m, v float64 }

func (c counts) mean() float64 { return math.Exp(c.m + c.v/2) }

// step is fine enough for the likelihood of a count y, whose width in ln rate is 1/√y.
func (c counts) step(y float64) float64 {
	return max(1e-3, min(0.25, 0.6/(math.Sqrt(c.v*(y+1))+1e-300)))
}

// quantile returns the smallest count whose cumulative probability is at least p.
func (c counts) quantile(p float64) float64 {
	below := func(y float64) (sum float64) {
		standard(c.step(y), func(z, w float64) { sum += w * poissonBelow(y, math.Exp(c.m+math.Sqrt(c.v)*z)) })
		return sum
	}
	low, high := -1.0, math.Ceil(c.mean())
	for high < 1e15 && below(high) < p {
		low, high = high, 2*high+1
	}
	for high-low > 1 {
		if mid := math.Floor((low + high) / 2); below(mid) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

func (c counts) logDensity(y float64) float64 {
	if !(y >= 0 && y == math.Trunc(y)) {
		return math.Inf(-1)
	}
	gamma, _ := math.Lgamma(y + 1)
	var terms []float64
	most := math.Inf(-1)
	standard(c.step(y), func(z, w float64) {
		f := c.m + math.Sqrt(c.v)*z
		terms = append(terms, math.Log(w)+y*f-math.Exp(f)-gamma)
		most = max(most, terms[len(terms)-1])
	})
	sum := 0.0
	for _, t := range terms {
		sum += math.Exp(t - most)
	}
	return most + math.Log(sum)
}

// poissonBelow returns the probability that a Poisson variable of this rate is at most y: Γ(y + 1,
// rate)/Γ(y + 1), by its series or its continued fraction (Abramowitz and Stegun 1964, 6.5.29 and
// 6.5.31).
func poissonBelow(y, rate float64) float64 {
	a := y + 1
	gamma, _ := math.Lgamma(a)
	if rate == 0 {
		return 1
	}
	front := math.Exp(a*math.Log(rate) - rate - gamma)
	most := 50 + 20*int(math.Sqrt(max(a, rate))) // steps
	if rate < a+1 {
		sum, term := 1/a, 1/a
		for i := 1; i < most && term > 1e-17*sum; i++ {
			term *= rate / (a + float64(i))
			sum += term
		}
		return max(0, 1-front*sum)
	}
	// Lentz's algorithm
	b := rate + 1 - a
	c, d := math.Inf(1), 1/b
	h := d
	for i := 1; i < most; i++ {
		n := -float64(i) * (float64(i) - a)
		b += 2
		d = 1 / (n*d + b)
		c = b + n/c
		h *= c * d
		if math.Abs(c*d-1) < 1e-16 {
			break
		}
	}
	return min(1, front*h)
}
