// PNG pictures of one size as one animated PNG, by the specification of APNG (PNG, third edition).

const SIGNATURE = 8;
const CHUNK = 12; // length, type and check sum around the data

interface Chunk {
  readonly type: string;
  readonly data: Uint8Array;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function checkSum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

function chunksOf(png: ArrayBuffer): Chunk[] {
  const view = new DataView(png);
  const found: Chunk[] = [];
  for (let at = SIGNATURE; at < png.byteLength; ) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...new Uint8Array(png, at + 4, 4));
    found.push({ type, data: new Uint8Array(png, at + 8, length) });
    at += length + CHUNK;
  }
  return found;
}

function written({ type, data }: Chunk): Uint8Array {
  const bytes = new Uint8Array(data.length + CHUNK);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  bytes.set(Array.from(type, (letter) => letter.charCodeAt(0)), 4);
  bytes.set(data, 8);
  view.setUint32(data.length + 8, checkSum(bytes.subarray(4, data.length + 8)));
  return bytes;
}

function numbers(...parts: readonly (readonly [size: 1 | 2 | 4, value: number])[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(parts.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of parts) {
    if (size === 4) view.setUint32(at, value);
    else if (size === 2) view.setUint16(at, value);
    else view.setUint8(at, value);
    at += size;
  }
  return new Uint8Array(view.buffer);
}

/** Return one file that shows the pictures in turn, for ever; all have the size of the first. */
export function animated(pictures: readonly { readonly bytes: ArrayBuffer; readonly ms: number }[]): Uint8Array<ArrayBuffer> {
  const [first] = pictures;
  if (first === undefined) throw new RangeError("An animation needs a picture, got none.");
  const head = chunksOf(first.bytes).find((chunk) => chunk.type === "IHDR");
  if (head === undefined) throw new TypeError("Expected a PNG with an IHDR chunk.");
  const size = new DataView(head.data.buffer, head.data.byteOffset);
  const chunks: Chunk[] = [head, { type: "acTL", data: numbers([4, pictures.length], [4, 0]) }];
  let order = 0;
  pictures.forEach((picture, index) => {
    chunks.push({
      type: "fcTL",
      data: numbers([4, order++], [4, size.getUint32(0)], [4, size.getUint32(4)], [4, 0], [4, 0], [2, picture.ms], [2, 1000], [1, 0], [1, 0]),
    });
    for (const { type, data } of chunksOf(picture.bytes)) {
      if (type !== "IDAT") continue;
      if (index === 0) chunks.push({ type, data });
      else chunks.push({ type: "fdAT", data: Uint8Array.of(...numbers([4, order++]), ...data) });
    }
  });
  chunks.push({ type: "IEND", data: new Uint8Array() });
  const parts = [new Uint8Array(first.bytes, 0, SIGNATURE), ...chunks.map(written)];
  const made = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}
