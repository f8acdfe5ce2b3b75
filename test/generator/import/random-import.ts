import type { SourceText } from '@twofold/schema';
import type { Imported, ImportedField, ImportedType } from '../../../generator/import/imported.ts';
import type { Random } from '../random.ts';

const SCALARS = ['Int', 'String!', 'Boolean', 'Float!'];

/** A schema as an import makes it: tables with columns, and keys between them. */
export function randomImport(random: Random): Imported {
  const names = Array.from({ length: 2 + random.whole(4) }, (_, at) => `Table${at}`);
  return { types: names.map((name) => randomType(name, names, random)), enums: [], items: [] };
}

function randomType(name: string, names: readonly string[], random: Random): ImportedType {
  const columns = Array.from({ length: 1 + random.whole(5) }, (_, at) =>
    column(`${name.toLowerCase()}c${at}`, random),
  );
  const target = random.pick(names);
  const key = `${name.toLowerCase()}_to_${target.toLowerCase()}`;
  const relation: ImportedField = {
    name: `to${target}`,
    type: `${target}!`,
    directives: [`@relation(column: "${key}")`],
    unique: false,
  };
  return {
    name,
    table: { name: name.toLowerCase(), view: false },
    directives: [],
    fields: [ID, ...columns, ...(random.chance(0.5) ? [relation] : [])],
  };
}

const ID: ImportedField = { name: 'id', type: 'ID!', directives: [], unique: true };

const column = (name: string, random: Random): ImportedField => ({
  name,
  type: random.pick(SCALARS),
  directives: random.chance(0.3) ? [`@default(expr: DATABASE)`] : [],
  unique: false,
});

/** Columns and tables that come, go and get another type; `added` are names that are new. */
export function changeDatabase(
  before: Imported,
  random: Random,
): { readonly imported: Imported; readonly added: readonly string[] } {
  const added: string[] = [];
  const types = before.types.flatMap((type) => {
    if (random.chance(0.1) && type !== before.types[0]) return [];
    const fields = type.fields.flatMap((field) => {
      if (field.name === 'id' || field.name.startsWith('to')) return [field];
      if (random.chance(0.15)) return [];
      return [random.chance(0.2) ? { ...field, type: random.pick(SCALARS) } : field];
    });
    return [{ ...type, fields }];
  });
  const there = new Set(types.map(({ name }) => name));
  const whole: ImportedType[] = types.map((type) => ({
    ...type,
    fields: type.fields.filter(({ name }) => !name.startsWith('to') || there.has(name.slice(2))),
  }));
  if (random.chance(0.5)) {
    added.push('type Fresh ');
    whole.push({ ...randomType('Fresh', ['Fresh'], random) });
  }
  return { imported: { ...before, types: whole }, added };
}

/** What a person made of an imported schema. */
export interface Edited {
  readonly files: readonly SourceText[];
  /** Texts that have to be there after the next import. */
  readonly marks: readonly string[];
  /** Texts that must not come back. */
  readonly deleted: readonly string[];
}

/** Renames, moves, describes, comments, adds and deletes at random. */
export function editSchema(base: string, random: Random): Edited {
  const marks: string[] = [];
  const deleted: string[] = [];
  const lines = base.split('\n').flatMap((line) => {
    const [, field, rest] = /^ {2}(table\d+c\d+)(: .*)$/.exec(line) ?? [];
    if (field === undefined) return [line];
    return editLine(field, rest!, { random, marks, deleted });
  });
  const blocks = lines.join('\n').split('\n\n');
  if (random.chance(0.3)) blocks.reverse();
  const renamed = random.chance(0.4)
    ? blocks.map((each) => each.replace(/\bTable0\b/g, 'Mine'))
    : blocks;
  if (renamed !== blocks) marks.push('type Mine @table(name: "table0")');
  const moved = random.chance(0.4) ? renamed.splice(0, 1) : [];
  return {
    files: [
      { file: 'schema.graphql', text: `${renamed.join('\n\n').trim()}\n` },
      ...(moved.length > 0
        ? [{ file: 'schema/moved.graphql', text: `${moved[0]!.trim()}\n` }]
        : []),
    ],
    marks,
    deleted,
  };
}

function editLine(
  field: string,
  rest: string,
  { random, marks, deleted }: { random: Random; marks: string[]; deleted: string[] },
): string[] {
  const edit = random.whole(8);
  const mark = (text: string) => (marks.push(text), text);
  if (edit === 0)
    return [
      `  # ${mark(`a word about ${field}`)}`,
      `  ${mark(`own_${field}`)}${rest} @column(name: "${field}")`,
    ];
  if (edit === 1)
    return [`  """${mark(`What ${field} is`)}"""`, `  ${field}${rest} @auth(allow: [USER])`];
  if (edit === 2) return (deleted.push(`  ${field}:`), []);
  if (edit === 3)
    return [`  ${field}${rest} @auth(allow: [USER])`, `  ${mark(`extra_${field}: Int @computed`)}`];
  return [`  ${field}${rest}`];
}
