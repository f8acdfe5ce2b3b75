import type { DocumentNode } from 'graphql';
import { CRUD_FILE, crudSdl } from './build/crud-sdl.ts';
import { build } from './build/project.ts';
import type { Parsed } from './build/facts.ts';
import type { Diagnostic } from './diagnostic.ts';
import { createKnown, keepProject, readManifest, readOnce } from './known.ts';
import type { Known } from './known.ts';
import type { ColumnType, Project } from './model.ts';
import { keepPieces, unusedPieces } from './parse/pieces.ts';
import type { KnownPieces } from './parse/pieces.ts';
import { placed } from './parse/places.ts';
import { parseSchema, understandFiles } from './parse/schema.ts';
import { parseFile } from './parse/syntax.ts';
import type { Rule } from './rules/finding.ts';
import { manifestRules, schemaRules } from './rules/index.ts';
import type { SourceText } from './source.ts';

/** The two inputs as text. `manifest: null`: a server that was given nothing but a schema. */
export interface ProjectInput {
  readonly schema: readonly SourceText[];
  readonly manifest: SourceText | null;
  /** How the user's own scalars are stored, from `src/scalars.ts`. When given, a scalar that is not in it is an error. */
  readonly scalars?: Readonly<Record<string, ColumnType>>;
  /** Given by a caller that reads again and again: what the readings before have understood. */
  readonly known?: Known;
}

/** What the two inputs mean. */
export interface ProjectReading {
  /** Null if there is any error. */
  readonly project: Project | null;
  /** The definitions as graphql-js parsed them, what `api.crud` adds among them; null if the text could not be parsed. */
  readonly document: DocumentNode | null;
  readonly diagnostics: Diagnostic[];
}

/**
 * Reads both files and says everything that is wrong with them at once.
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
  const found = [...schema.diagnostics, ...manifest.diagnostics];
  const files = [...input.schema.map(({ file }) => file), CRUD_FILE];
  if (!schema.parsed) return { project: null, document: null, diagnostics: inOrder(found, files) };
  const given: Parsed = {
    schema: schema.parsed,
    manifest: manifest.manifest,
    ...(input.scalars && { scalars: input.scalars }),
  };
  const parsed =
    found.length === 0 && manifest.manifest.values.api.crud ? withCrud(given, unused) : given;
  keepPieces(
    known.pieces,
    parsed.schema.files.flatMap(({ pieces }) => pieces),
  );
  const diagnostics = inOrder([...found, ...checkSchema(parsed), ...checkManifest(parsed)], files);
  const failed = diagnostics.some(({ severity }) => severity === 'error');
  return {
    project: failed ? null : keepProject(known, build(parsed).project),
    document: parsed.schema.document,
    diagnostics,
  };
}

/** The schema with what `api.crud` adds, read again: what is served was checked as a whole. */
function withCrud(parsed: Parsed, unused: KnownPieces): Parsed {
  const text = crudSdl(parsed);
  if (text === '') return parsed;
  const { parsed: schema } = understandFiles([
    ...parsed.schema.files,
    parseFile({ file: CRUD_FILE, text }, unused),
  ]);
  return schema ? { ...parsed, schema: { ...schema, crudSdl: text } } : parsed;
}

/** What the rules say of the schema, in the light of the manifest. */
export function checkSchema(parsed: Parsed): Diagnostic[] {
  return judge(parsed, schemaRules);
}

/** What the rules say of the manifest, in the light of the schema. */
export function checkManifest(parsed: Parsed): Diagnostic[] {
  return judge(parsed, manifestRules);
}

function judge(parsed: Parsed, rules: readonly Rule[]): Diagnostic[] {
  return placed(
    rules.flatMap((rule) => [...rule(build(parsed))]),
    parsed.schema.files,
  );
}

/** By place, the schema before the manifest, and each once: two rules may see the same slip. */
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
