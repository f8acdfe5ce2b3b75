import { positionAt, type Diagnostic, type Position, type SourceText } from '../diagnostic.ts';
import { withPinnedDefaults } from '../changed-defaults.ts';
import { manifestSchema } from '../manifest-schema.ts';
import { toModel } from '../manifest/units.ts';
import { sections, type ManifestValues } from '../sections.ts';
import { secretFindings } from './secrets.ts';
import { settleManifest, type ShapeProblem } from './settle.ts';
import { parseYaml, type PlaceOf } from './yaml.ts';
import { isData, type Data } from '../manifest/shape.ts';

/**
 * The manifest as the model has it, and the position of each value. Paths use the keys as written.
 */
export interface Manifest {
  readonly values: ManifestValues;
  /** The values in the file, without defaults. */
  readonly written: Data;
  readonly at: PlaceOf;
}

/** The manifest of a server that has only a schema. */
const NOTHING = { name: 'app' };
const START: Position = { file: 'manifest.yaml', line: 1, column: 1, length: 1 };

/**
 * Reads the manifest. Wrong values become findings and are replaced by their defaults, so that the
 * rest can be checked.
 *
 * @example
 * parseManifest({ file: 'manifest.yaml', text: 'name: shop' }).manifest.values.server.port // 8080
 */
export function parseManifest(source: SourceText | null): {
  manifest: Manifest;
  diagnostics: Diagnostic[];
} {
  if (!source)
    return {
      manifest: { values: valuesOf(NOTHING), written: {}, at: () => START },
      diagnostics: [],
    };
  const { value, diagnostics, at } = parseYaml(source);
  if (diagnostics.length > 0)
    return {
      manifest: { values: valuesOf(NOTHING), written: {}, at },
      diagnostics: [...diagnostics],
    };
  if (value !== null && !isData(value))
    return {
      manifest: { values: valuesOf(NOTHING), written: {}, at },
      diagnostics: [notSettings(source)],
    };
  const secrets = secretFindings(value, at);
  const found: Diagnostic[] = secrets.map(({ finding }) => finding);
  const known = new Set(secrets.map(({ path }) => path.join('.')));
  const values = valuesOf(isData(value) ? value : {}, (problem) => {
    if (!known.has(problem.path.join('.'))) found.push(shapeFinding(problem, at));
  });
  const written = isData(value) ? value : {};
  return { manifest: { values, written, at }, diagnostics: found };
}

/**
 * Reads a manifest from plain data. Wrong values are reported and replaced by their defaults.
 *
 * @example
 * valuesOf({ name: 'shop' }).server.bodyLimit // 1048576
 */
export function valuesOf(
  data: Data,
  report: (problem: ShapeProblem) => void = () => {},
): ManifestValues {
  return toModel(settledValues(data, report), manifestSchema) as ManifestValues;
}

/** The values with every default, under the names that the manifest has. */
export function settledValues(
  data: Data,
  report: (problem: ShapeProblem) => void = () => {},
): Data {
  const pinned = withPinnedDefaults({ ...data, ...writtenSections(data) }, manifestSchema);
  return settleManifest(pinned, report);
}

/** The sections of capabilities. A bare `auth:` is null in YAML and enables the section. */
function writtenSections(data: Data): Data {
  const found = sections.flatMap(({ name, within, withDefaults }) => {
    const value = data[name] === null ? {} : data[name];
    if (within !== undefined || value === undefined) return [];
    return [[name, withDefaults && isData(value) ? withDefaults(value) : value] as const];
  });
  return Object.fromEntries(found);
}

function shapeFinding({ path, part, ...problem }: ShapeProblem, at: PlaceOf): Diagnostic {
  return {
    ...problem,
    severity: 'error',
    at: problem.code === 'MANIFEST_KEY_MISSING' ? at(path.slice(0, -1), 'key') : at(path, part),
  };
}

function notSettings(source: SourceText): Diagnostic {
  return {
    code: 'MANIFEST_SHAPE',
    severity: 'error',
    summary: 'The manifest holds no settings',
    fix: 'name: shop',
    at: positionAt(source, 0),
  };
}
