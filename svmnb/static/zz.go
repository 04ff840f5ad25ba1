package static
var RasterPNG = rasterPNG
