import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import type { Diagnostic, Position } from '../diagnostic.ts';
import manifestSchema from '../manifest.schema.json' with { type: 'json' };
import type { ManifestValues } from '../manifest.ts';
import { positionAt } from '../source.ts';
import type { SourceText } from '../source.ts';
import { applyProfile } from './profiles.ts';
import { secretFindings } from './secrets.ts';
import { shapeFinding } from './shape-findings.ts';
import { parseYaml } from './yaml.ts';
import type { ManifestPath } from './yaml.ts';

/** The manifest with every default, and where each of its values stands. */
export interface Manifest {
  readonly values: ManifestValues;
  /** Whether there is a manifest at all: a server may be given nothing but a schema. */
  readonly given: boolean;
  at(path: ManifestPath, part?: 'key' | 'value'): Position;
}

/** Loaded when there is a manifest to check, and only then. */
const load = createRequire(import.meta.url);
let compiled: ValidateFunction | undefined;

function validator(): ValidateFunction {
  if (compiled) return compiled;
  const { Ajv } = load('ajv') as { Ajv: new (options: object) => Ajv };
  const ajv = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true, strict: false, verbose: true, messages: false });
  return (compiled = ajv.compile(manifestSchema));
}

/**
 * Reads the manifest. Wrong values are findings and replaced by their defaults, so that the rest is checked all the same.
 *
 * @example
 * parseManifest({ file: 'manifest.yaml', text: 'name: shop' }).manifest.values.server.port // 8080
 */
export function parseManifest(source: SourceText | null): { manifest: Manifest; diagnostics: Diagnostic[] } {
  if (!source) return { manifest: { values: NOTHING, given: false, at: () => START }, diagnostics: [] };
  const { value, diagnostics, at } = parseYaml(source);
  const place = (path: ManifestPath, part: 'key' | 'value' = 'value') => at(path, part);
  if (diagnostics.length > 0) return { manifest: { values: NOTHING, given: true, at: place }, diagnostics: [...diagnostics] };
  const secrets = secretFindings(value, place);
  const data = isObject(value) ? structuredClone(value) : {};
  if (value !== null && !isObject(value)) secrets.push(notAMap(source));
  const shape = settle(data, place, new Set(secrets.map((finding) => finding.path)));
  const values = applyProfile(data, (filled) => void validator()(filled)) as unknown as ManifestValues;
  return { manifest: { values, given: true, at: place }, diagnostics: [...secrets.map(({ path: _, ...finding }) => finding), ...shape] };
}

type Data = Record<string, unknown>;

/** Findings about the shape; what they are about is taken out of the data. */
function settle(data: Data, at: Manifest['at'], known: ReadonlySet<string>): Diagnostic[] {
  const probe = structuredClone(data);
  validator()(probe);
  const errors = validator().errors ?? [];
  const findings = new Map<string, Diagnostic>();
  for (const error of errors) {
    // A value that fits none of several shapes is one mistake; what each shape said of it is not told.
    if (error.schemaPath.includes('/anyOf/')) continue;
    const path = pathOf(error);
    const finding = isEmptySection(error) ? undefined : shapeFinding(error, path, at);
    if (finding && !known.has(path.join('.')) && !findings.has(path.join('.'))) findings.set(path.join('.'), finding);
    remove(data, path);
  }
  return [...findings.values()];
}

/** `jwt:` with nothing behind it is the section with its defaults. */
function isEmptySection(error: ErrorObject): boolean {
  return error.keyword === 'type' && error.data === null && error.schema === 'object';
}

function pathOf(error: ErrorObject): (string | number)[] {
  const path = error.instancePath.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { additionalProperty, missingProperty } = error.params as { additionalProperty?: string; missingProperty?: string };
  const named = additionalProperty ?? missingProperty ?? error.propertyName;
  return named === undefined ? path : [...path, named];
}

function remove(data: Data, path: ManifestPath): void {
  let parent: unknown = data;
  for (const segment of path.slice(0, -1)) parent = isObject(parent) || Array.isArray(parent) ? (parent as Data)[segment] : undefined;
  const last = path.at(-1);
  if (Array.isArray(parent)) remove(data, path.slice(0, -1));
  else if (isObject(parent) && last !== undefined) delete parent[last];
}

function isObject(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notAMap(source: SourceText): Diagnostic & { path: string } {
  return { path: '', code: 'MANIFEST_SHAPE', severity: 'error', summary: 'The manifest is not a list of settings', fix: 'name: shop', at: positionAt(source, 0) };
}

const START: Position = { file: 'manifest.yaml', line: 1, column: 1, length: 1 };

/** What holds when there is no manifest; the same numbers as in `manifest.schema.json`, where a test compares them. */
const NOTHING: ManifestValues = {
  name: 'app',
  server: { port: 8080, host: '0.0.0.0', cors: [], trusted_proxies: [], body_limit: '1MiB' },
  database: { ids: 'integer' },
  api: {
    path: '/graphql',
    crud: false,
    rest: false,
    limits: { depth: 12, cost: 5000, aliases: 30, root_fields: 20, directives: 50, tokens: 2000, batch: 0, list: 100, time: '10s', result: '10MiB' },
    introspection: 'development',
    graphiql: 'development',
    suggestions: 'development',
    trusted_documents: null,
  },
};
