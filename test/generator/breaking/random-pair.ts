/** A schema as data, so that it can be changed at random and printed again. */
interface World {
  readonly objects: Map<string, Fields>;
  readonly inputs: Map<string, Map<string, string>>;
  readonly enums: Map<string, string[]>;
  readonly unions: Map<string, string[]>;
}

type Fields = Map<string, { type: string; args: Map<string, string> }>;

/** Numbers from 0 up to 1, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed * 2654435761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

export interface Pair {
  readonly before: string;
  readonly after: string;
  /** Valid documents of the first schema. */
  readonly documents: readonly string[];
}

/** Two schemas, the second one made of the first by a few changes, and documents of the first. */
export function randomPair(seed: number): Pair {
  const random = randomNumbers(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const world = makeWorld(random, pick);
  const before = print(world);
  const documents = Array.from({ length: 6 }, (_, at) => makeDocument(world, { random, pick, at }));
  const changes = 1 + Math.floor(random() * 3);
  for (let n = 0; n < changes; n++) pick(CHANGES)(world, { pick, random });
  repair(world);
  return { before, after: print(world), documents };
}

type Random = () => number;
type Pick = <T>(list: readonly T[]) => T;
interface Chance {
  readonly random: Random;
  readonly pick: Pick;
}

const SCALARS = ['Int', 'String', 'Boolean', 'ID', 'Float'];
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`);

function makeWorld(random: Random, pick: Pick): World {
  const objects = names('T', 4);
  const inputs = names('I', 2);
  const enums = names('E', 2);
  const world: World = {
    enums: new Map(enums.map((name) => [name, names(`${name}V`, 3)])),
    unions: new Map([['U0', ['T0', 'T1']]]),
    inputs: new Map(
      inputs.map((name) => [
        name,
        new Map(
          names('i', 3).map((field) => [field, modified(pick([...SCALARS, ...enums]), random)]),
        ),
      ]),
    ),
    objects: new Map(),
  };
  const argument = () => modified(pick([...SCALARS, ...enums, ...inputs]), random);
  const field = (types: readonly string[]) => ({
    type: modified(pick(types), random),
    args: new Map(
      random() < 0.4
        ? [
            ['a0', argument()],
            ['a1', pick(SCALARS)],
          ]
        : [],
    ),
  });
  for (const name of objects)
    world.objects.set(
      name,
      new Map(names('f', 4).map((each) => [each, field([...SCALARS, ...enums, ...objects, 'U0'])])),
    );
  world.objects.set(
    'Query',
    new Map(names('q', 5).map((each) => [each, field([...objects, ...objects, 'U0', 'Int'])])),
  );
  return world;
}

const modified = (type: string, random: Random) =>
  `${random() < 0.2 ? `[${type}!]` : type}${random() < 0.3 ? '!' : ''}`;

export const bare = (type: string): string => type.replaceAll(/[[\]!]/g, '');

function print({ objects, inputs, enums, unions }: World): string {
  const args = (list: ReadonlyMap<string, string>) =>
    list.size === 0 ? '' : `(${[...list].map(([name, type]) => `${name}: ${type}`).join(', ')})`;
  return [
    ...[...objects].map(
      ([name, fields]) =>
        `type ${name} { ${[...fields].map(([each, { type, args: own }]) => `${each}${args(own)}: ${type}`).join(' ')} }`,
    ),
    ...[...inputs].map(
      ([name, fields]) =>
        `input ${name} { ${[...fields].map(([each, type]) => `${each}: ${type}`).join(' ')} }`,
    ),
    ...[...enums].map(([name, values]) => `enum ${name} { ${values.join(' ')} }`),
    ...[...unions].map(([name, members]) => `union ${name} = ${members.join(' | ')}`),
  ].join('\n');
}

/** Makes a schema valid again: what is gone is nowhere used, and nothing is empty. */
function repair(world: World): void {
  const { objects, inputs, enums, unions } = world;
  for (const [name, members] of unions) {
    const left = members.filter((member) => objects.has(member));
    unions.set(
      name,
      left.length > 0 ? left : [[...objects.keys()].find((each) => each !== 'Query')!],
    );
  }
  for (const values of enums.values()) if (values.length === 0) values.push('LEFT');
  const known = new Set([
    ...SCALARS,
    ...objects.keys(),
    ...inputs.keys(),
    ...enums.keys(),
    ...unions.keys(),
  ]);
  for (const fields of objects.values()) {
    for (const [name, { type, args }] of fields) {
      for (const [argument, own] of args) if (!known.has(bare(own))) args.delete(argument);
      if (!known.has(bare(type))) fields.delete(name);
    }
    if (fields.size === 0) fields.set('left', { type: 'Int', args: new Map() });
  }
  for (const fields of inputs.values()) {
    for (const [name, type] of fields) if (!known.has(bare(type))) fields.delete(name);
    if (fields.size === 0) fields.set('left', 'Int');
  }
}

const keys = (map: ReadonlyMap<string, unknown>) => [...map.keys()];

type ChangeOf = (world: World, chance: Chance) => void;

const anyField = ({ objects }: World, { pick }: Chance) => {
  const fields = objects.get(pick(keys(objects)))!;
  const name = pick(keys(fields));
  return { fields, name, field: fields.get(name)! };
};

const CHANGES: readonly ChangeOf[] = [
  (world, chance) => {
    const { fields, name } = anyField(world, chance);
    fields.delete(name);
  },
  (world, chance) => void (anyField(world, chance).field.type = chance.pick(SCALARS)),
  (world, chance) => {
    const { field } = anyField(world, chance);
    field.type = field.type.endsWith('!') ? field.type.slice(0, -1) : `${field.type}!`;
  },
  (world, chance) => void anyField(world, chance).field.args.set('must', 'Int!'),
  (world, chance) => void anyField(world, chance).field.args.set('may', 'Int'),
  (world, chance) => void anyField(world, chance).field.args.delete('a0'),
  (world, chance) => {
    const { args } = anyField(world, chance).field;
    if (args.has('a0')) args.set('a0', chance.pick(SCALARS));
  },
  ({ objects }, { pick }) =>
    void objects.delete(pick(keys(objects).filter((name) => name !== 'Query'))),
  ({ inputs }, { pick }) => void inputs.get(pick(keys(inputs)))!.set('must', 'Int!'),
  ({ inputs }, { pick }) => {
    const fields = inputs.get(pick(keys(inputs)))!;
    fields.delete(pick(keys(fields)));
  },
  ({ enums }, { pick }) => void enums.get(pick(keys(enums)))!.pop(),
  ({ enums }, { pick }) => add(enums.get(pick(keys(enums)))!, 'MORE'),
  ({ unions }) => void unions.get('U0')!.pop(),
  ({ unions }) => add(unions.get('U0')!, 'T2'),
  ({ objects }, { pick }) =>
    void objects.get(pick(keys(objects)))!.set('fresh', { type: 'Int', args: new Map() }),
];

/** A change may happen twice, and no name may. */
function add(list: string[], name: string): void {
  if (!list.includes(name)) list.push(name);
}

/** A document that selects up to three levels, with arguments as literals and as variables. */
function makeDocument(world: World, { random, pick, at }: Chance & { at: number }): string {
  const variables = new Map<string, string>();
  const literal = (type: string): string => {
    if (type.startsWith('[')) return `[${literal(bare(type))}]`;
    const name = bare(type);
    if (world.enums.has(name)) return pick(world.enums.get(name)!);
    const fields = world.inputs.get(name);
    if (fields)
      return `{ ${[...fields]
        .filter(([, own]) => own.endsWith('!') || random() < 0.5)
        .map(([each, own]) => `${each}: ${literal(own)}`)
        .join(', ')} }`;
    return { Int: '1', Float: '1.5', Boolean: 'true' }[name] ?? '"x"';
  };
  const given = (type: string) => {
    if (random() < 0.5) return literal(type);
    const name = `v${variables.size}`;
    variables.set(name, type);
    return `$${name}`;
  };
  const select = (type: string, depth: number): string => {
    const name = bare(type);
    const members = world.unions.get(name);
    if (members) {
      const member = pick(members);
      return ` { __typename ... on ${member}${inner(member, depth)} }`;
    }
    return world.objects.has(name) ? inner(name, depth) : '';
  };
  const inner = (name: string, depth: number): string => {
    const fields = [...world.objects.get(name)!].filter(
      ([, { type }]) =>
        depth > 0 || (!world.objects.has(bare(type)) && !world.unions.has(bare(type))),
    );
    const chosen = fields.filter(() => random() < 0.4);
    const list = chosen.length > 0 || fields.length === 0 ? chosen : [pick(fields)];
    const texts = list.map(([each, { type, args }], index) => {
      const own = [...args].filter(([, argument]) => argument.endsWith('!') || random() < 0.5);
      const words = own.map(([argument, its]) => `${argument}: ${given(its)}`);
      return `r${index}: ${each}${words.length > 0 ? `(${words.join(', ')})` : ''}${select(type, depth - 1)}`;
    });
    return ` { ${['__typename', ...texts].join(' ')} }`;
  };
  const body = inner('Query', 3);
  const declared = [...variables].map(([name, type]) => `$${name}: ${type}`).join(', ');
  return `query D${at}${declared ? `(${declared})` : ''}${body}`;
}
