import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@twofold/runtime/errors';
import type { Misfit } from '@twofold/runtime/kernel';

/**
 * All differences between the schema and a database that another program made. The server does not
 * start before they are removed.
 */
export class CatalogMismatch extends AppError {
  /** @param root the folder with the files of the schema */
  constructor(misfits: readonly Misfit[], root: string) {
    const lineOf = linesOf(root);
    super(500, 'CATALOG_MISMATCH', misfits.map((each) => describe(each, lineOf)).join('\n'), {
      extensions: { misfits },
    });
  }
}

function describe(
  { coordinate, object, expected, found }: Misfit,
  lineOf: ReturnType<typeof linesOf>,
): string {
  const line = lineOf(coordinate);
  return `CATALOG_MISMATCH ${line === undefined ? '' : `${line} `}${coordinate}: ${object}: expected ${expected}, found ${found}`;
}

/**
 * Finds the line of a coordinate in the schema files of a project, where they are at hand: an image
 * may leave them out.
 *
 * @example linesOf(root)('Track.name') // 'schema.graphql:12'
 */
function linesOf(root: string): (coordinate: string) => string | undefined {
  const files = schemaFiles(root);
  return (coordinate) => {
    const [type = '', field] = coordinate.split('.');
    for (const { file, lines } of files) {
      const line = lineIn(lines, type, field);
      if (line !== undefined) return `${file}:${line + 1}`;
    }
    return undefined;
  };
}

function schemaFiles(root: string) {
  return ['.', 'schema'].flatMap((folder) =>
    namesIn(join(root, folder))
      .filter((name) => name.endsWith('.graphql') && name !== 'directives.graphql')
      .map((name) => ({
        file: folder === '.' ? name : `${folder}/${name}`,
        lines: readFileSync(join(root, folder, name), 'utf8').split('\n'),
      })),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function lineIn(lines: readonly string[], type: string, field?: string): number | undefined {
  const start = lines.findIndex((line) => new RegExp(`\\btype\\s+${type}\\b`).test(line));
  if (start < 0) return undefined;
  if (field === undefined) return start;
  const isField = new RegExp(`(?:^|[{\\s])${field}\\s*[:(]`);
  const end = lines.findIndex((line, index) => index > start && /^\s*}/.test(line));
  const at = lines.findIndex(
    (line, index) => index >= start && (end < 0 || index <= end) && isField.test(line),
  );
  return at < 0 ? start : at;
}
