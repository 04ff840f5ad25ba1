package echarts

import (
	"os"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Carries reports whether this process must send the drawing library. It decides at the
// first call.
var Carries = sync.OnceValue(func() bool { return Carry(os.Getenv(protocol.GONB_TMP_DIR_ENV)) })

// Brought is done when this process has sent the library.
var Brought sync.Once
