package metrics_test

import (
	"context"
	"fmt"

	"github.com/svmnb/svmnb/svmnb/metrics"
)

func Example() {
	truth := []string{"cat", "cat", "dog", "dog", "dog", "owl"}
	predicted := []string{"cat", "dog", "dog", "dog", "cat", "owl"}
	c, err := metrics.NewConfusion(truth, predicted)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Classes, c.Counts)
	fmt.Printf("accuracy %.3f, macro F1 %.3f, MCC %.3f\n", c.Accuracy(), c.F1().Macro, c.MCC())
	_, err = metrics.NewROC([]bool{true, true}, []float64{0.3, 0.8})
	fmt.Println(err)
	// Output:
	// [cat dog owl] [[1 1 0] [1 2 0] [0 0 1]]
	// accuracy 0.667, macro F1 0.722, MCC 0.455
	// metrics: NewROC: positive: no point is negative; the curve compares two classes
}

func ExampleBootstrap() {
	truth, predicted := []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{1.1, 1.7, 3.3, 4.2, 4.4, 6.1, 7.8, 8.1}
	rmse, err := metrics.Bootstrap{Seed: 1}.Of(context.Background(), len(truth), func(rows []int) (float64, error) {
		var y, f []float64
		for _, i := range rows {
			y, f = append(y, truth[i]), append(f, predicted[i])
		}
		return metrics.RMSE(y, f)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rmse.Low < rmse.Value && rmse.Value < rmse.High)
	// Output: true
}
