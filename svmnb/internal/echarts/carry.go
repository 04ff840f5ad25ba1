package echarts

import (
	"os"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// Carries says once in a process whether it brings the drawing library.
var Carries = sync.OnceValue(func() bool { return Carry(os.Getenv(protocol.GONB_TMP_DIR_ENV)) })

// Brought notes that this process has sent the library already.
var Brought sync.Once
