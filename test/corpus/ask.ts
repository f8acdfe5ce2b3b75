import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isListType,
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import type { Entity, Project } from '@twofold/schema';
import { snakeCase } from '@twofold/schema';
import type { Ask, Bringing } from './bring.ts';

const entityOf = (project: Project, name: string) =>
  project.entities.find((each) => each.name === name)!;

const scalarsOf = ({ fields }: Entity) =>
  fields.flatMap(({ name, source }) => (source.kind === 'column' ? [name] : []));

export const listsOf = (project: Project) =>
  project.operations.filter(
    ({ root, action, type }) => root === 'query' && action.kind === 'list' && type.list,
  );

/** Every list with every column: what is imported can be read. */
export async function listAll(project: Project, ask: Ask): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, action, args } of listsOf(project)) {
    const entity = entityOf(project, (action as { entity: string }).entity);
    const page = args.some((each) => each.name === 'limit') ? '(limit: 3)' : '';
    const { errors } = await ask(
      `{ ${name}${page} { ${['__typename', ...scalarsOf(entity)].join(' ')} } }`,
    );
    if (errors) problems.push(`list ${name}: ${JSON.stringify(errors[0])}`);
  }
  return problems;
}

/** Three levels from a list of the root, as somebody would type them: without arguments. */
export async function askDeep(project: Project, ask: Ask): Promise<string[]> {
  const problems: string[] = [];
  for (const query of deepQueries(project)) {
    const { errors } = await ask(query);
    if (errors) problems.push(`${query}: ${JSON.stringify(errors[0])}`);
  }
  return problems;
}

/** Lists in lists in lists where there are any. */
function deepQueries(project: Project): string[] {
  const found: { readonly text: string; readonly many: number }[] = [];
  for (const { name, action } of listsOf(project)) {
    const top = entityOf(project, (action as { entity: string }).entity);
    for (const second of relationsOf(top))
      for (const third of relationsOf(entityOf(project, second.entity))) {
        if (entityOf(project, third.entity) === top && third.many) continue;
        const leaf = scalarsOf(entityOf(project, third.entity)).slice(0, 4);
        const text = `{ ${name} { ${second.name} { ${third.name} { ${['__typename', ...leaf].join(' ')} } } } }`;
        found.push({ text, many: Number(second.many) + Number(third.many) });
      }
  }
  found.sort((a, b) => b.many - a.many);
  return found.slice(0, 2).map(({ text }) => text);
}

/** The type whose id an input takes: `authorId` is that of the field `author`. */
const referredBy = ({ fields }: Entity, input: string): string | undefined => {
  const field = fields.find(({ name, source }) => source.kind === 'one' && `${name}Id` === input);
  return field?.source.kind === 'one' ? field.source.entity : undefined;
};

const relationsOf = ({ fields }: Entity) =>
  fields.flatMap(({ name, source, type }) =>
    source.kind === 'one' || (source.kind === 'many' && type.list)
      ? [{ name, entity: source.entity, many: source.kind === 'many' }]
      : [],
  );

/** Values of the scalars, another one for each row. */
const VALUES: Readonly<Record<string, (row: number) => unknown>> = {
  Int: (row) => row,
  Float: (row) => row + 0.5,
  BigInt: (row) => String(row),
  Decimal: (row) => `${row % 10}.5`,
  Boolean: () => true,
  DateTime: () => '2026-01-02T03:04:05.000Z',
  Date: () => '2026-01-02',
  Time: () => '03:04:05',
  JSON: () => ({ a: 1 }),
  Byte: () => 'YQ==',
  UUID: (row) => `00000000-0000-4000-8000-${String(row).padStart(12, '0')}`,
};

/** The scalars of keys that callers give. */
const OF_KEYS: Readonly<Record<string, string>> = { uuid: 'UUID', integer: 'BigInt', text: '' };

/** Makes a row of each type, and before it the rows that it needs; of some types there is none. */
export async function createRows(
  project: Project,
  ask: Ask,
  { without: reasons = {}, keys = {} }: Bringing,
): Promise<string[]> {
  const without = Object.keys(reasons);
  const schema = buildSchema(project.sdl, { assumeValidSDL: true });
  const maker = new Maker(project, schema, ask, keys);
  const wanted = project.entities.filter(({ view }) => !view);
  for (const { name } of wanted) await maker.row(name, []);
  const left = wanted.map(({ name }) => name).filter((name) => !maker.made.has(name));
  return [
    ...maker.problems.filter((each) => !without.includes(each.split(' ')[1]!)),
    ...left.filter((name) => !without.includes(name)).map((name) => `no row of ${name}`),
    ...without.filter((name) => !left.includes(name)).map((name) => `a row of ${name}`),
  ];
}

interface Place {
  readonly type: string;
  /** The types whose rows wait for this one. */
  readonly above: readonly string[];
  /** Whether relations are given that may be left out. */
  readonly relations?: boolean;
}

/** Makes rows, and before each the rows that it needs. */
export class Maker {
  readonly made = new Map<string, string>();
  readonly problems: string[] = [];
  #row = 100;
  readonly project: Project;
  readonly schema: GraphQLSchema;
  readonly ask: Ask;
  readonly keys: NonNullable<Bringing['keys']>;

  constructor(
    project: Project,
    schema: GraphQLSchema,
    ask: Ask,
    keys: NonNullable<Bringing['keys']> = {},
  ) {
    this.project = project;
    this.schema = schema;
    this.ask = ask;
    this.keys = keys;
  }

  /** The id of a row of the type; null when no row can be made. */
  async row(type: string, above: readonly string[]): Promise<string | null> {
    const known = this.made.get(type);
    if (known !== undefined) return known;
    if (above.includes(type)) return null;
    const create = this.project.operations.find(
      ({ name, action }) =>
        action.kind === 'create' && action.entity === type && name === `create${type}`,
    );
    if (!create) return this.#first(type);
    const input = this.schema.getMutationType()!.getFields()[create.name]!.args[0]!.type;
    const place = { type, above: [...above, type] };
    const shown = ['id', ...scalarsOf(entityOf(this.project, type))].find((name) =>
      entityOf(this.project, type).fields.some((each) => each.name === name),
    );
    const text = `mutation ($input: ${String(input)}) { ${create.name}(input: $input) { ${shown} } }`;
    const values = await this.values(getNamedType(input), place);
    if (values === null) return null;
    let answer = await this.ask(text, { input: values });
    // A relation may lead to a row that a rule hides, although its column is never null.
    if (/ is required$/.test(answer.errors?.[0]?.message)) {
      const more = await this.values(getNamedType(input), { ...place, relations: true });
      answer = await this.ask(text, { input: more ?? values });
    }
    if (answer.errors) {
      const problem = JSON.stringify(answer.errors[0]);
      this.problems.push(`create ${type} ${JSON.stringify(values)}: ${problem}`);
      return null;
    }
    const [id] = Object.values(answer.data[create.name] ?? {});
    this.made.set(type, String(id));
    return String(id);
  }

  /** A row that is there already, as that of the user who registered. */
  async #first(type: string): Promise<string | null> {
    const list = listsOf(this.project).find(
      ({ action }) => (action as { entity: string }).entity === type,
    );
    const { data } = list ? await this.ask(`{ ${list.name} { id } }`) : { data: null };
    const id: string | undefined = data?.[list!.name]?.[0]?.id;
    if (id !== undefined) this.made.set(type, id);
    return id ?? null;
  }

  /** An input with what it has to have, of a row that is not there yet. */
  async values(input: unknown, { type, above, relations = false }: Place) {
    if (!isInputObjectType(input)) return {};
    this.#row += 1;
    const values: Record<string, unknown> = {};
    for (const field of Object.values(input.getFields())) {
      const entity =
        this.keys[type]?.[field.name] ?? referredBy(entityOf(this.project, type), field.name);
      const needed = isNonNullType(field.type) && field.defaultValue === undefined;
      if (!needed && !(relations && entity !== undefined)) continue;
      if (entity === undefined) {
        values[field.name] = this.#value(field.type, this.#column(type, field.name));
        continue;
      }
      const id = await this.row(entity, above);
      if (id !== null) values[field.name] = id;
      else if (needed) return null;
    }
    return values;
  }

  #column(type: string, field: string) {
    return entityOf(this.project, type).columns.find(
      ({ name, field: shown }) => shown === field || name === snakeCase(field),
    );
  }

  #value(type: GraphQLInputType, column: Entity['columns'][number] | undefined): unknown {
    const inner = isNonNullType(type) ? type.ofType : type;
    if (isListType(inner)) return [this.#value(inner.ofType, column)];
    const named = getNamedType(inner);
    if (isEnumType(named)) return named.getValues()[0]!.value;
    if (isInputObjectType(named)) return {};
    const made = VALUES[named.name] ?? VALUES[OF_KEYS[column?.key ?? 'text']!];
    if (made) return made(this.#row);
    return textFor(this.#row, column);
  }
}

function textFor(row: number, column: Entity['columns'][number] | undefined): string {
  const text = column?.name.includes('email') ? `x${row}@example.test` : `x${row}`;
  return text.slice(0, column?.constraint?.maxLength ?? 100);
}
