/** A doc comment; empty when there is no text. */
export function docComment(text: string | null | undefined, indent = ''): string {
  const lines = (text ?? '')
    .trim()
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\r\n]/);
  if (lines.length === 1) return lines[0] === '' ? '' : `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
