import { build } from './build/project.ts';
import type { Parsed } from './build/facts.ts';
import { CRUD_FILE } from './crud/print-crud.ts';
import { withCrud } from './crud/with-crud.ts';
import type { Diagnostic } from './diagnostic.ts';
import { createKnown, keepProject, readManifest, readOnce } from './known.ts';
import type { Known, ProjectInput, ProjectReading } from './reading.ts';
import { keepPieces, unusedPieces } from './parse/pieces.ts';
import { placed } from './parse/places.ts';
import { parseSchema } from './parse/schema.ts';
import type { Rule } from './rules/finding.ts';
import { manifestRules, schemaRules } from './rules/index.ts';

/**
 * Reads both files and reports all their mistakes at once.
 *
 * @example
 * const { project, diagnostics } = readProject({ schema: [{ file: 'schema.graphql', text: sdl }], manifest: null });
 */
export function readProject({ known = createKnown(), ...input }: ProjectInput): ProjectReading {
  return readOnce(known, input, () => readInputs(input, known));
}

function readInputs(input: Omit<ProjectInput, 'known'>, known: Known): ProjectReading {
  const manifest = readManifest(known, input.manifest);
  const unused = unusedPieces(known.pieces);
  const schema = parseSchema(input.schema, unused);
  const files = [...input.schema.map(({ file }) => file), CRUD_FILE];
  if (!schema.parsed)
    return {
      project: null,
      diagnostics: inOrder([...schema.diagnostics, ...manifest.diagnostics], files),
    };
  const given: Parsed = {
    schema: schema.parsed,
    manifest: manifest.manifest,
    ...(input.scalars && { scalars: input.scalars }),
    ...(input.hooks && { hooks: input.hooks }),
    ...(input.completesUser && { completesUser: true }),
  };
  const { parsed, diagnostics: found } = withCrud(given, schema.diagnostics, unused);
  keepPieces(
    known.pieces,
    parsed.schema.files.flatMap(({ pieces }) => pieces),
  );
  const diagnostics = inOrder(
    [...found, ...manifest.diagnostics, ...checkSchema(parsed), ...checkManifest(parsed)],
    files,
  );
  const failed = diagnostics.some(({ severity }) => severity === 'error');
  return {
    project: failed ? null : keepProject(known, build(parsed).project),
    diagnostics,
  };
}

/** The findings of the rules about the schema, which also read the manifest. */
export function checkSchema(parsed: Parsed): Diagnostic[] {
  return judge(parsed, schemaRules);
}

/** The findings of the rules about the manifest, which also read the schema. */
export function checkManifest(parsed: Parsed): Diagnostic[] {
  return judge(parsed, manifestRules);
}

function judge(parsed: Parsed, rules: readonly Rule[]): Diagnostic[] {
  return placed(
    rules.flatMap((rule) => [...rule(build(parsed))]),
    parsed.schema.files,
  );
}

/**
 * Sorted by position, the schema before the manifest, without duplicates: two rules may find the
 * same mistake.
 */
function inOrder(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const unique = new Map(
    diagnostics.map((finding) => [
      `${finding.code} ${finding.summary} ${finding.at.file} ${finding.at.line} ${finding.at.column}`,
      finding,
    ]),
  );
  const ranks = new Map(files.map((file, index) => [file, index]));
  const rank = ({ at }: Diagnostic) => ranks.get(at.file) ?? files.length;
  return [...unique.values()].sort(
    (a, b) => rank(a) - rank(b) || a.at.line - b.at.line || a.at.column - b.at.column,
  );
}
