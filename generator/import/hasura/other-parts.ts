import type { ReportItem } from '../imported.ts';
import type { Metadata, MetadataSource, MetadataTable } from './metadata.ts';
import { PERMISSIONS, referenceOf } from './metadata.ts';

const OF_METADATA = new Set(['version', 'resource_version', 'sources']);
const OF_SOURCE = new Set(['name', 'kind', 'tables', 'configuration']);
const OF_TABLE = new Set([
  'table',
  'is_enum',
  'configuration',
  'object_relationships',
  'array_relationships',
  ...Object.keys(PERMISSIONS),
]);
const OF_CONFIGURATION = new Set(['custom_name', 'custom_column_names', 'column_config']);

type Parts = Readonly<Record<string, unknown>>;

/** Names everything in the metadata that has no equal here: nothing of it is left out silently. */
export function otherParts(metadata: Metadata, source: MetadataSource): readonly ReportItem[] {
  const others = metadata.sources.filter((each) => each !== source);
  return [
    ...partsOf(metadata, OF_METADATA, ''),
    ...partsOf(source, OF_SOURCE, `${source.name}.`),
    ...others.map(({ name, kind }) => ({
      ...left(name, 'source'),
      why: `a database of ${kind}: one database is imported, ${source.name}`,
    })),
    ...(source.tables ?? []).flatMap(partsOfTable),
  ];
}

const left = (object: string, kind: string): ReportItem => ({
  object,
  kind,
  status: 'notExpressible',
  why: 'there is nothing like it here',
});

function partsOfTable(entry: MetadataTable): readonly ReportItem[] {
  const { schema, name } = referenceOf(entry.table);
  const place = `${schema}.${name}.`;
  const { configuration = {}, is_enum: isEnum } = entry;
  return [
    ...partsOf(entry, OF_TABLE, place),
    ...partsOf(configuration, OF_CONFIGURATION, place),
    ...(isEnum
      ? [
          {
            object: `${schema}.${name}.is_enum`,
            kind: 'enum table',
            status: 'approximated' as const,
            why: 'it is a type with rows, and not an enum',
          },
        ]
      : []),
  ];
}

/** Report items for unknown keys; for a list, one for each of its parts, by name. */
function partsOf(parts: Parts, known: ReadonlySet<string>, place: string): readonly ReportItem[] {
  return Object.entries(parts).flatMap(([key, value]) => {
    if (known.has(key) || isEmpty(value)) return [];
    const kind = key.replaceAll('_', ' ').replace(/s$/, '');
    if (Array.isArray(value))
      return value.map((each, at) => left(`${place}${nameOf(each) ?? `${key}[${at}]`}`, kind));
    const inner = insideOf(value, `${place}${key}.`);
    return inner.length > 0 ? inner : [left(`${place}${key}`, kind)];
  });
}

/** The parts of a section that contains lists. */
const insideOf = (value: unknown, place: string): readonly ReportItem[] =>
  typeof value === 'object' && value !== null && Object.values(value).some(Array.isArray)
    ? partsOf(value as Parts, new Set(), place)
    : [];

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  (typeof value === 'object' && Object.values(value).every(isEmpty));

/** The name of a part; for a part without one, the name of the thing that it is about. */
function nameOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  if (typeof part !== 'object' || part === null) return undefined;
  const { name, role_name: role, collection, function: called } = part as Parts;
  const found = [name, role, collection, called].find((each) => each !== undefined);
  if (typeof found === 'string') return found;
  return typeof found === 'object' && found !== null ? nameOf(found) : undefined;
}
