package arrow_test

import (
	"bytes"
	"fmt"

	"github.com/svmnb/svmnb/datasets"
	"github.com/svmnb/svmnb/datasets/arrow"
)

func ExampleRead() {
	var file bytes.Buffer
	if err := arrow.WriteParquet(&file, datasets.Iris()); err != nil {
		fmt.Println(err)
		return
	}
	d, err := arrow.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), arrow.Options{Name: "petals", Features: []string{"petal length (cm)", "petal width (cm)"}})
	fmt.Println(d, err)
	// Output: petals: 150 × 2, 3 classes (setosa 50, versicolor 50, virginica 50) <nil>
}
