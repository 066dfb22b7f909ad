/** Reads the raw body. Webhooks are smaller than 64 KiB. */
export async function readBody(request, largestBytes = 65_536) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > largestBytes) throw new Error(`A body is larger than ${largestBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
