import { type Adopted, emptyDatabase, execute, serve } from '../../adopted/start.ts';

const ROWS = 1000;
const REQUESTS = 150;
const ROUNDS = 20;

/** One shape of a table, with rows, and what reads one of them. */
interface Shape {
  readonly name: string;
  readonly sdl: string;
  readonly manifest: string;
  /** Absent where the server makes the table. */
  readonly table?: string;
  readonly insert: string;
  readonly id: (at: number) => string;
}

const QUERY = 'type Query { note(id: ID!): Note notes(limit: Int, offset: Int): [Note!]! }';
const ADOPTED = 'name: theirs\ndatabase: { managed: false }\n';
const numbers = `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ROWS})`;

const SHAPES: readonly Shape[] = [
  {
    name: 'ours',
    sdl: `${QUERY} type Note { id: ID! text: String! place: String! }`,
    manifest: 'name: ours\n',
    insert: `insert into notes (text, place) ${numbers} select 'text ' || i, 'p' || i from n`,
    id: String,
  },
  {
    name: 'adopted',
    sdl: `${QUERY} type Note @table(name: "Their Notes") { id: ID! @column(name: "NoteId") text: String! @column(name: "Text") place: String! @column(name: "Place") }`,
    manifest: ADOPTED,
    table:
      'create table "Their Notes" ("NoteId" integer primary key, "Text" text not null, "Place" text not null)',
    insert: `insert into "Their Notes" ("Text", "Place") ${numbers} select 'text ' || i, 'p' || i from n`,
    id: String,
  },
  {
    name: 'composite',
    sdl: `${QUERY} type Note @table(name: "parts", key: ["text", "place"]) { id: ID! text: String! place: String! }`,
    manifest: ADOPTED,
    table:
      'create table parts (text text not null, place text not null, primary key (text, place))',
    insert: `insert into parts (text, place) ${numbers} select 'text ' || i, 'p' || i from n`,
    id: (at) => `text%20${at}:p${at}`,
  },
];

/**
 * Milliseconds of CPU for a round of reads, the best of several, by the shape of the table. Time on
 * the clock would have that of other programs, too.
 */
export async function measureAdopted(): Promise<Readonly<Record<string, number>>> {
  const servers: { readonly shape: Shape; readonly server: Adopted }[] = [];
  for (const shape of SHAPES) servers.push({ shape, server: await start(shape) });
  const best = new Map<string, number>();
  // The shapes take turns, so that a busy machine is the same for all of them.
  for (let round = 0; round < ROUNDS; round++)
    for (const { shape, server } of servers) {
      const time = await readAll(shape, server);
      best.set(shape.name, Math.min(time, best.get(shape.name) ?? Infinity));
    }
  for (const { server } of servers) await server.close();
  return Object.fromEntries(best);
}

async function start({ sdl, manifest, table, insert }: Shape): Promise<Adopted> {
  const { url } = await emptyDatabase('sqlite');
  if (table !== undefined) await execute(url, [table, insert]);
  const server = await serve(url, sdl, manifest);
  if (table === undefined) await execute(url, [insert]);
  return server;
}

async function readAll({ id }: Shape, server: Adopted): Promise<number> {
  const before = process.cpuUsage();
  for (let at = 1; at <= REQUESTS; at++) {
    const { data } = await server.query(
      'query ($id: ID!) { note(id: $id) { id text place } notes(limit: 20) { id text place } }',
      { id: id(at) },
    );
    if (data?.note?.place !== `p${at}` || data.notes.length !== 20)
      throw new Error(`row ${at} was not read`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
