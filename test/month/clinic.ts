/** The clinic as it is on the first of the month: its schema, its settings, and rows in each table. */
export const SCHEMA = `scalar BigInt
scalar Date
scalar DateTime
scalar Decimal
scalar JSON

enum Species { DOG CAT BIRD OTHER }
enum Status { PLANNED DONE CANCELLED }

type Owner @index(fields: ["city"]) {
  id: ID!
  name: String!
  email: String
  phone: String
  street: String
  city: String
  pets: [Pet!]!
  createdAt: DateTime!
}

type Pet {
  id: ID!
  name: String!
  species: Species!
  born: Date
  weight: Float
  chip: Int @unique
  neutered: Boolean!
  tags: [String!]
  owner: Owner!
  visits: [Visit!]!
}

type Vet {
  id: ID!
  name: String!
  skills: [Skill!]!
  visits: [Visit!]!
}

type Skill {
  id: ID!
  label: String! @unique
  vets: [Vet!]!
}

type Visit {
  id: ID!
  at: DateTime!
  status: Status!
  reason: String
  pet: Pet!
  vet: Vet
  treatments: [Treatment!]!
}

type Treatment {
  id: ID!
  name: String!
  price: Decimal!
  minutes: Int
  visit: Visit!
}

type Article @entity(softDelete: true) @search(fields: ["title", "body"]) {
  id: ID!
  title: String!
  body: String
}

type Supplier {
  id: ID!
  name: String!
  rating: Float
  details: JSON
  note: String
}

type Query {
  clinic: String @resolve(as: CUSTOM)
}
`;

/** With tables of six rows and more being changed online, on PostgreSQL. */
export const MANIFEST = `name: clinic
api: { crud: true }
database: { migrations: { online_from: 5 } }
`;

/** A row as the database has it, by the names of its columns. */
export type Row = Record<string, unknown>;

const count = <T>(length: number, row: (number: number) => T): T[] =>
  Array.from({ length }, (_, at) => row(at + 1));

const time = (day: number, hour: number) => new Date(Date.UTC(2026, 0, day, hour)).toISOString();

/** Every table with its rows; in a join table a pair of keys. */
export const ROWS: Readonly<Record<string, readonly Row[]>> = {
  owners: count(8, (id) => ({
    id,
    name: `Owner ${id}`,
    email: id % 4 === 0 ? null : `o${id % 6}@example.test`,
    phone: id % 2 ? `+49 30 ${1000 + id}` : null,
    street: id % 3 ? `${id} Elm Street` : null,
    city: ['Ulm', 'Bonn', 'Kiel'][id % 3],
    created_at: time(id, 8),
  })),
  pets: count(12, (id) => ({
    id,
    name: `Pet ${id} “ä'é”`,
    species: ['DOG', 'CAT', 'BIRD', 'OTHER'][id % 4],
    born: id % 3 ? `2020-02-${10 + id}` : null,
    weight: id % 5 ? id + 0.5 : null,
    chip: id % 4 ? 2_000_000_000 + id : null,
    neutered: id % 2 === 0,
    tags: id % 3 ? ['calm', `t${id}`] : id % 2 ? null : [],
    owner_id: 1 + (id % 7),
  })),
  vets: count(3, (id) => ({ id, name: `Vet ${id}` })),
  skills: count(4, (id) => ({ id, label: `skill ${id}` })),
  skill_vets: [
    { skill_id: 1, vet_id: 1 },
    { skill_id: 2, vet_id: 1 },
    { skill_id: 2, vet_id: 2 },
    { skill_id: 4, vet_id: 3 },
  ],
  visits: count(15, (id) => ({
    id,
    at: time(id, id % 24),
    status: ['PLANNED', 'DONE', 'CANCELLED'][id % 3],
    reason: id % 4 ? `reason ${id}` : null,
    pet_id: 1 + (id % 11),
    vet_id: id % 5 ? 1 + (id % 3) : null,
  })),
  treatments: count(20, (id) => ({
    id,
    name: id % 2 ? 'Vaccination' : `Treatment no. ${id}`,
    price: `${id}.${id % 2 ? '5' : '25'}`,
    minutes: id % 6 ? id * 5 : null,
    visit_id: 1 + (id % 13),
  })),
  articles: count(6, (id) => ({
    id,
    title: `Article ${id} of fleas`,
    body: id % 2 ? `How to bathe animal ${id}` : null,
    deleted_at: null,
  })),
  suppliers: count(7, (id) => ({
    id,
    name: `Supplier ${id}`,
    rating: id % 3 ? id / 2 : null,
    details: id % 2 ? { city: 'Köln', lines: [id, 2.5, null, 'x'] } : null,
    note: id % 4 ? `7${id}` : null,
  })),
};

const TYPES: Readonly<Record<string, string>> = {
  owners: 'Owner',
  pets: 'Pet',
  vets: 'Vet',
  skills: 'Skill',
  visits: 'Visit',
  treatments: 'Treatment',
  articles: 'Article',
  suppliers: 'Supplier',
};

/** The same rows as a file of `generator seed`, which is read as YAML. */
export function seedFile(): string {
  const types = Object.entries(TYPES).map(([table, type]) => [
    type,
    Object.fromEntries(ROWS[table]!.map((row) => [`k${row['id']}`, seedRow(table, row)])),
  ]);
  return JSON.stringify(Object.fromEntries(types));
}

function seedRow(table: string, { id, ...row }: Row): Row {
  const written = Object.entries(row).filter(([column]) => column !== 'deleted_at');
  const fields = written.map(([column, value]) =>
    column.endsWith('_id')
      ? [column.replace('_id', ''), value === null ? null : `k${value}`]
      : [column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()), value],
  );
  const vets = ROWS['skill_vets']!.filter((pair) => pair['skill_id'] === id);
  if (table === 'skills') fields.push(['vets', vets.map((pair) => `k${pair['vet_id']}`)]);
  return Object.fromEntries(fields) as Row;
}
