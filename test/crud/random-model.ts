import { type Diagnostic, pascalCase, pluralize, type Project, readProject } from '@twofold/schema';
import type { Random } from '../generator/random.ts';
import { applied } from '../schema/applied-fix.ts';
import { COLUMNS, ENDINGS, TABLES } from './ordinary-names.ts';

/** `CRUD_SEEDS=1-2000` runs the models of these seeds. */
export function seedsToRun(usual: number): number[] {
  const [first, last] = (process.env['CRUD_SEEDS'] ?? `1-${usual}`).split('-').map(Number);
  return Array.from({ length: last! - first! + 1 }, (_, index) => first! + index);
}

export const MANIFEST = 'name: names\napi: { crud: true, rest: true }\n';

const SCALARS = ['String', 'Int', 'Float', 'Boolean', 'DateTime', 'JSON', '[String!]', 'Level'];

/** A schema of some tables with relations, whose names are frequent ones, and their compounds. */
export function randomModel(random: Random): string {
  const plain = Array.from({ length: 4 }, () => random.pick(TABLES));
  const compound = plain.map((name) => name + random.pick(ENDINGS));
  const types = [...new Set([...plain, ...compound])].filter(() => random.chance(0.85));
  const fields = new Map(types.map((name) => [name, new Map([['id', 'ID!']])]));
  const add: Add = (...ends) => {
    if (ends.some(([type, name]) => fields.get(type)!.has(name))) return;
    for (const [type, name, as] of ends) fields.get(type)!.set(name, as);
  };
  for (const type of types) {
    for (let left = 1 + random.whole(4); left > 0; left--)
      add([type, random.pick(COLUMNS), random.pick(SCALARS) + (random.chance(0.3) ? '!' : '')]);
    if (random.chance(0.3)) relate(type, random.pick(types), random, add);
  }
  const [clash, definition] = clashing(random, random.pick(types));
  if (random.chance(0.3) && !fields.has(clash)) add([random.pick(types), 'shape', clash]);
  const isUsed = [...fields.values()].some((own) => own.get('shape') === clash);
  return [
    'scalar DateTime\nscalar JSON\nenum Level { LOW HIGH }\ntype Query { hello: String @resolve(as: CUSTOM) }',
    ...[...fields].map(
      ([type, own]) =>
        `type ${type} {\n${[...own].map(([name, as]) => `  ${name}: ${as}\n`).join('')}}`,
    ),
    ...(isUsed ? [definition] : []),
  ].join('\n');
}

/** A definition of the user whose name `api.crud` needs for what it writes. */
function clashing(random: Random, type: string): readonly [name: string, definition: string] {
  const names = ['Filter', 'ListFilter', 'ListOrder', 'Counts', 'Edge', 'Key'].map(
    (word) => type + word,
  );
  const name = random.pick([...names, `Create${type}Input`, `Update${type}Input`, 'Direction']);
  return [name, random.chance(0.5) ? `enum ${name} { IN OUT }` : `type ${name} { note: String }`];
}

/**
 * Reads a model, and pastes the fix of each error as it is printed; where only another name is
 * asked for, the definition gets one.
 */
export function readMended(
  sdl: string,
  left = 8,
): {
  readonly sdl: string;
  readonly project: Project | null;
  readonly errors: readonly Diagnostic[];
} {
  const schema = [{ file: 'schema.graphql', text: sdl }];
  const manifest = { file: 'manifest.yaml', text: MANIFEST };
  const { project, diagnostics } = readProject({ schema, manifest });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (left === 0) return { sdl, project, errors };
  const [fix] = errors.flatMap(({ fixes = [] }) => fixes);
  if (fix) return readMended(applied(sdl, fix), left - 1);
  const [, taken] = errors.map((each) => /^rename (\w+)$/.exec(each.fix ?? '')).find(Boolean) ?? [];
  if (taken)
    return readMended(sdl.replaceAll(new RegExp(`\\b${taken}\\b`, 'g'), `Our${taken}`), left - 1);
  return { sdl, project, errors };
}

/** Adds the fields of both ends, or none where a name is taken. */
type Add = (...ends: readonly (readonly [type: string, name: string, as: string])[]) => void;

const lower = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

/** A single object, or two lists that face each other, and perhaps both: `category` and `categories`. */
function relate(from: string, to: string, random: Random, add: Add): void {
  if (from === to) return;
  const one = random.chance(0.6);
  const many = !one || random.chance(0.3);
  const both = one && many;
  if (one) {
    const inverse = `${lower(pluralize(from))}By${pascalCase(to)}`;
    const needed = random.chance(0.5) ? '!' : '';
    add(
      [from, lower(to), `${to}${needed} @relation(inverse: "${inverse}")`],
      [to, inverse, `[${from}!]! @relation(inverse: "${lower(to)}")`],
    );
  }
  if (many) {
    const [here, there] = [lower(pluralize(to)), `${lower(pluralize(from))}${both ? 'Also' : ''}`];
    add(
      [from, here, `[${to}!]! @relation(inverse: "${there}")`],
      [to, there, `[${from}!]! @relation(inverse: "${here}")`],
    );
  }
}
