/** The most bytes of an answer, as the text of a JSON message. */
const MOST = 64 * 1024;

/** Room for the members of the message around the text. */
const AROUND = 1024;

/** A value as JSON text, or a text as it is; a long one is cut, and says so. */
export function fitting(value: unknown): string {
  const whole = typeof value === 'string' ? value : JSON.stringify(value);
  const limit = MOST - AROUND;
  const note = `\n[cut: the whole answer has ${Buffer.byteLength(whole)} bytes. Ask for less.]`;
  let text = whole;
  for (let size = sizeOf(text); size > limit; size = sizeOf(text))
    text = text.slice(0, Math.min(text.length - 1, Math.floor((text.length * limit) / size)));
  return text === whole ? whole : text.replace(/[\uD800-\uDBFF]$/, '') + note;
}

const sizeOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));
