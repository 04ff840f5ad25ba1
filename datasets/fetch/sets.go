package fetch

import (
	"io"

	"github.com/svmnb/svmnb/datasets"
)

const (
	libsvmPage = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
	uciPage    = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
	ccBy       = "CC BY 4.0"
	unstated   = "not stated; ask the source before you pass it on"
)

// sparse and dense return readers of LIBSVM's format with dims features.
func sparse(dims int) func(io.Reader) (*datasets.Dataset, error) {
	return func(r io.Reader) (*datasets.Dataset, error) { return datasets.ReadLIBSVMSparse(r, dims) }
}

func dense(dims int) func(io.Reader) (*datasets.Dataset, error) {
	return func(r io.Reader) (*datasets.Dataset, error) { return datasets.ReadLIBSVM(r, dims) }
}

func table(opt datasets.CSV) func(io.Reader) (*datasets.Dataset, error) {
	return func(r io.Reader) (*datasets.Dataset, error) { return datasets.ReadCSV(r, opt) }
}

// sets is sorted by name. Each checksum was computed from a file that was downloaded from the
// URL itself. If it is missing, nobody has downloaded that file yet.
var sets = []Set{
	{Name: "a9a", About: "32,561 × 123 sparse, two classes: income above 50,000 $ (Adult, as coded by Platt)",
		URL: libsvmPage + "binary/a9a", Most: 8 << 20, Source: "UCI Adult, LIBSVM data", Licence: ccBy, Read: sparse(123)},
	{Name: "a9a.t", About: "16,281 × 123 sparse, the test points of a9a",
		URL: libsvmPage + "binary/a9a.t", Most: 8 << 20, Source: "UCI Adult, LIBSVM data", Licence: ccBy, Read: sparse(123)},
	{Name: "abalone", About: "4,177 × 8, real targets: rings of an abalone",
		URL: libsvmPage + "regression/abalone", Most: 4 << 20, Source: "UCI Abalone, LIBSVM data", Licence: ccBy, Read: dense(8)},
	{Name: "banknote", About: "1,372 × 4, two classes: genuine and forged banknotes, from wavelets of pictures",
		URL: uciPage + "00267/data_banknote_authentication.txt", Most: 1 << 20, Source: "UCI Banknote Authentication", Licence: ccBy, Read: table(datasets.CSV{Header: datasets.NoHeader})},
	{Name: "heart_scale", About: "270 × 13, two classes: heart disease (Statlog), features in [−1, 1]",
		URL: "https://raw.githubusercontent.com/cjlin1/libsvm/master/heart_scale", SHA256: "5defa0a4c4c5bdaf3f55ae3828310252e8565c13ee37ce279e0b86d82e7f4ce9", Most: 1 << 16,
		Source: "the LIBSVM repository", Licence: "BSD-3-Clause", Read: dense(13)},
	{Name: "svmguide1", About: "3,089 × 4, two classes: astroparticles, of the LIBSVM guide",
		URL: libsvmPage + "binary/svmguide1", Most: 1 << 20, Source: "LIBSVM data", Licence: unstated, Read: dense(4)},
	{Name: "svmguide1.t", About: "4,000 × 4, the test points of svmguide1",
		URL: libsvmPage + "binary/svmguide1.t", Most: 1 << 20, Source: "LIBSVM data", Licence: unstated, Read: dense(4)},
	{Name: "w8a", About: "49,749 × 300 sparse, two classes: web pages, by words (Platt)",
		URL: libsvmPage + "binary/w8a", Most: 16 << 20, Source: "LIBSVM data", Licence: unstated, Read: sparse(300)},
	{Name: "w8a.t", About: "14,951 × 300 sparse, the test points of w8a",
		URL: libsvmPage + "binary/w8a.t", Most: 16 << 20, Source: "LIBSVM data", Licence: unstated, Read: sparse(300)},
	{Name: "winequality-red", About: "1,599 × 11, real targets: grades of red wines",
		URL: uciPage + "wine-quality/winequality-red.csv", Most: 1 << 20, Source: "UCI Wine Quality", Licence: ccBy, Read: table(datasets.CSV{Comma: ';', Header: datasets.HasHeader})},
}
