import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect } from 'vitest';
import {
  ask,
  change,
  compare,
  create,
  edit,
  migrationsOf,
  type Month,
  noteRemoved,
  plan,
  printed,
  removeNamed,
  serve,
  settle,
  type,
} from './month.ts';
import type { Row } from './clinic.ts';
import type { Change } from './week-1.ts';

export const WEEK_3: readonly Change[] = [
  [
    'a default comes, and another one changes',
    async (month) => {
      edit(
        month,
        ['status: Status!', 'status: Status! @default(value: PLANNED)'],
        ['mustGrade: Int! @default(value: 3)', 'mustGrade: Int! @default(value: 5)'],
      );
      await type(month, 'generate');
      await settle(month, (url) =>
        create(month, url, ['Visit', 'visits'], {
          input: { at: '2026-02-01T10:00:00.000Z', petId: 2 },
          row: { at: '2026-02-01T10:00:00.000Z', status: 'PLANNED', pet_id: 2, vet_id: null },
        }),
      );
    },
  ],
  [
    'a relation of a type with itself',
    async (month) => {
      edit(month, [
        '  visits: [Visit!]!\n}\n\ntype Vet',
        '  visits: [Visit!]!\n  mother: Pet @relation(inverse: "children")\n  children: [Pet!]!\n}\n\ntype Vet',
      ]);
      await type(month, 'generate');
      change(month, 'pets', () => ({ mother_id: null }));
      await settle(month, async (url) => {
        await ask(url, 'mutation { updatePet(id: 2, input: { motherId: 1 }) { id } }');
        change(month, 'pets', ({ id }) => (id === 2 ? { mother_id: 1 } : {}));
        expect(
          await ask(url, '{ pet(id: 1) { children { mother { children { id } } } } }'),
        ).toEqual({
          pet: { children: [{ mother: { children: [{ id: '2' }] } }] },
        });
      });
    },
  ],
  [
    'removed rows are only marked from now on',
    async (month) => {
      edit(month, ['type Visit @index', 'type Visit @entity(softDelete: true) @index']);
      await type(month, 'generate');
      change(month, 'visits', () => ({ deleted_at: null }));
      await settle(month, async (url) => {
        await ask(url, 'mutation { deleteVisit(id: 15) }');
        await noteRemoved(month, 'visits', 15);
      });
    },
  ],
  [
    'a value of an enum goes that rows have, by a migration of its own before',
    async (month) => {
      edit(month, [' CANCELLED', '']);
      await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ object: 'visits.status', verdict: 'impossible', atRisk: 5 });
      const { text } = await type(month, 'migrate up', 5);
      await compare(month, 1);
      expect(text).toMatch(/fix +change them, or allow their values again/);
      removeNamed(month, text);
      const hand = await type(month, 'migrate new no_cancelled');
      month.shop.write(
        printed(hand.text, /new +(migrations\/\S+)/),
        `import type { Kysely } from '@twofold/runtime';

export async function up(db: Kysely<any>): Promise<void> {
  await db.updateTable('visits').set({ status: 'DONE' }).where('status', '=', 'CANCELLED').execute();
}
`,
      );
      await type(month, 'generate');
      change(month, 'visits', ({ status }) => ({
        status: status === 'CANCELLED' ? 'DONE' : status,
      }));
      await settle(month);
    },
  ],
  [
    'a check that a row breaks',
    async (month) => {
      edit(month, ['weight: Float', 'weight: Float @constraint(min: 2)']);
      await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ object: 'pets.weight', verdict: 'impossible', keys: ['1'] });
      await month.database.store.db
        .updateTable('pets')
        .set({ weight: 2 })
        .where('id', '=', 1)
        .execute();
      change(month, 'pets', ({ id }) => (id === 1 ? { weight: 2 } : {}));
      await settle(month);
    },
  ],
  [
    'a list and a document with defaults, undone and made again',
    async (month) => {
      const fields =
        '  rooms: [String!]! @default(value: ["A", "B"])\n  hours: JSON! @default(value: { mon: [8, 12.5] })\n';
      edit(month, ['  skills: [Skill!]!\n', `  skills: [Skill!]!\n${fields}`]);
      await type(month, 'generate');
      const before = structuredClone(month.model['vets']!);
      change(month, 'vets', () => ({ rooms: ['A', 'B'], hours: { mon: [8, 12.5] } }));
      await settle(month, async (url) => {
        await ask(url, 'mutation { updateVet(id: 1, input: { rooms: ["C"], hours: [] }) { id } }');
        change(month, 'vets', ({ id }) => (id === 1 ? { rooms: ['C'], hours: [] } : {}));
      });
      const { text } = await type(month, 'migrate down');
      const rescued = [...text.matchAll(/rescued +(\S+)/g)].flatMap(([, file]) =>
        month.shop
          .read(file!)
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Row),
      );
      for (const { id, rooms, hours } of month.model['vets']!)
        expect(rescued.filter((row) => row['id'] === id).map(inJson)).toEqual(
          expect.arrayContaining(
            [
              { id, rooms },
              { id, hours },
            ].map(inJson),
          ),
        );
      const after = month.model['vets']!;
      month.model['vets'] = before;
      await compare(month, 1);
      month.model['vets'] = after;
      change(month, 'vets', () => ({ rooms: ['A', 'B'], hours: { mon: [8, 12.5] } }));
      await settle(month);
    },
  ],
  [
    'another kind of keys is refused, and taken back as is printed',
    async (month) => {
      const manifest = month.shop.read('manifest.yaml');
      const ids = (to: string) =>
        month.shop.write('manifest.yaml', manifest.replace('database: {', `database: { ${to},`));
      ids('ids: uuid');
      const { text } = await type(month, 'generate', 3);
      ids(printed(text, /IDS_CHANGED[^]*fix +database: \{ (.+?) \}/));
      await settle(month);
    },
  ],
  [
    'two branches from one base, with rows on each, and what both made',
    async (month) => {
      git(month, 'init', '-qb', 'main');
      month.shop.write('.git/info/exclude', 'node_modules\ntwofold-store-*\nresumed\n');
      commit(month, 'base');
      git(month, 'checkout', '-qb', 'left');
      edit(
        month,
        ['type Vet {\n  id: ID!\n', 'type Vet {\n  id: ID!\n  phone: String\n  room: Room\n'],
        [
          'type Skill {',
          'type Room {\n  id: ID!\n  name: String!\n  vets: [Vet!]!\n}\n\ntype Skill {',
        ],
      );
      await type(month, 'generate');
      commit(month, 'left');
      const vets = structuredClone(month.model['vets']!);
      change(month, 'vets', () => ({ phone: null, room_id: null }));
      month.model['rooms'] = [];
      await settle(month, async (url) => {
        await ask(url, 'mutation { updateVet(id: 1, input: { phone: "112" }) { id } }');
        change(month, 'vets', ({ id }) => (id === 1 ? { phone: '112' } : {}));
      });
      git(month, 'checkout', '-q', 'main');
      delete month.model['rooms'];
      month.model['vets'] = vets;
      // The server of a developer undoes what this branch does not have, and keeps the values.
      await serve(month, async () => {});
      await compare(month);
      const rescued = readdirSync(month.shop.path('.generator/rescued')).map((name) =>
        month.shop.read(`.generator/rescued/${name}`),
      );
      expect(rescued.join('')).toContain('"phone":"112"');
      edit(
        month,
        ['type Vet {\n  id: ID!\n', 'type Vet {\n  id: ID!\n  email: String\n'],
        ['  neutered: Boolean!\n', '  neutered: Boolean!\n  color: String\n'],
      );
      await type(month, 'generate');
      change(month, 'vets', () => ({ email: null }));
      change(month, 'pets', () => ({ color: null }));
      await settle(month, async (url) => {
        await ask(url, 'mutation { updatePet(id: 4, input: { color: "red" }) { id } }');
        change(month, 'pets', ({ id }) => (id === 4 ? { color: 'red' } : {}));
      });
      commit(month, 'right');
      expect(() => git(month, 'merge', '-q', '-m', 'merge', 'left')).toThrow();
      const conflict = await type(month, 'generate', 3);
      expect(conflict.text).toMatch(/schema\.graphql:\d+/);
      month.shop.write(
        'schema.graphql',
        month.shop.read('schema.graphql').replace(/^(<<<<<<<|=======|>>>>>>>).*\n/gm, ''),
      );
      await type(month, 'generate');
      commit(month, 'merge');
      const files = migrationsOf(month).slice(-2);
      expect(files.map((name) => name.slice(0, 4))).toEqual([
        files[0]!.slice(0, 4),
        files[0]!.slice(0, 4),
      ]);
      change(month, 'vets', () => ({ phone: null, room_id: null }));
      month.model['rooms'] = [];
      await settle(month);
    },
  ],
];

/** JSON of a column is rescued as a value or as its text. */
const inJson = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

function git({ shop }: Month, ...words: string[]): string {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.test'];
  return execFileSync('git', [...who, '-c', 'merge.conflictStyle=merge', ...words], {
    cwd: shop.root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function commit(month: Month, message: string): void {
  git(month, 'add', '-A');
  git(month, 'commit', '-qm', message);
}
