// An image file as the bytes that the memory's model reads.

export async function imageBytes(file, [height, width, channels]) {
  const bitmap = await createImageBitmap(file);
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.drawImage(bitmap, 0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height).data;
  const bytes = new Uint8Array(height * width * channels);
  for (let i = 0; i < height * width; ++i) {
    const [r, g, b] = [pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]];
    if (channels === 1)
      bytes[i] = Math.round(0.299 * r + 0.587 * g + 0.114 * b);
    else
      bytes.set([r, g, b], 3 * i);
  }
  return {bytes, canvas};
}
