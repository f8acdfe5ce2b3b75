/** A line of one of the project's files: `src/generated/resolvers.ts:14`. */
export interface Texts {
  readonly get: (path: string) => string | null;
}

/**
 * Finds where a field of the project is written: in the user's resolvers, among the inferred answers, or as a column.
 * Null when it stands nowhere by itself.
 */
export function placeOf(coordinate: string, texts: Texts): string | null {
  const [type = '', field] = coordinate.split('.');
  const own = `src/resolvers/${type}.ts`;
  if (field === undefined) return lineIn('src/generated/model.ts', texts, new RegExp(`^    ${type}: \\{`));
  return (
    lineIn(own, texts, new RegExp(`^\\s+(?:async\\s+)?${field}\\s*[:(,]`)) ??
    lineWithin('src/generated/resolvers.ts', texts, [new RegExp(`^  ${type}: \\{`), new RegExp(`^    ${field}: `)]) ??
    lineWithin('src/generated/model.ts', texts, [new RegExp(`^    ${type}: \\{`), new RegExp(`^        (?:${snakeCase(field)}|${field}): `)])
  );
}

function lineIn(path: string, texts: Texts, pattern: RegExp): string | null {
  return lineWithin(path, texts, [pattern]);
}

/** The first line of the last pattern, after those of the patterns before it. */
function lineWithin(path: string, texts: Texts, patterns: readonly RegExp[]): string | null {
  const lines = texts.get(path)?.split(/\r?\n/) ?? [];
  let at = -1;
  for (const pattern of patterns) {
    at = lines.findIndex((line, index) => index > at && pattern.test(line));
    if (at < 0) return null;
  }
  return `${path}:${at + 1}`;
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2').toLowerCase();
}
