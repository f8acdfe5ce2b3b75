import { expect } from 'vitest';
import type { Row } from './clinic.ts';
import {
  ask,
  COMMIT,
  change,
  compare,
  create,
  edit,
  killed,
  migrationsOf,
  type Month,
  noteRemoved,
  plan,
  printed,
  removeNamed,
  settle,
  type,
} from './month.ts';

export type Change = readonly [title: string, does: (month: Month) => Promise<void>];

const SUPPLIER = ['Supplier', 'suppliers'] as const;

/** A field of each kind of type: what it is called, its type, and the value of a row. */
const FIELDS: readonly (readonly [name: string, type: string, value: unknown])[] = [
  ['code', 'String', 'c-1 “ü”'],
  ['grade', 'Int', 4],
  ['credit', 'BigInt', '9007199254740993'],
  ['share', 'Float', 0.25],
  ['fee', 'Decimal', '0.10'],
  ['active', 'Boolean', true],
  ['since', 'Date', '2024-02-29'],
  ['seen', 'DateTime', '2026-01-02T03:04:05.006Z'],
  ['meta', 'JSON', { deep: [1, { a: null }] }],
  ['labels', '[String!]', ['a', 'b"c']],
  ['kind', 'Species', 'CAT'],
];
const VALUES: Row = Object.fromEntries(FIELDS.map(([name, , value]) => [name, value]));
const NONE: Row = Object.fromEntries(FIELDS.map(([name]) => [name, null]));
const REQUIRED = FIELDS.map(([name, of]) => ({
  column: `must_${name}`,
  field: `must${name[0]!.toUpperCase()}${name.slice(1)}: ${of}!`,
}));

/** The value that a column has of a default: a word of an enum, or JSON; times to the millisecond. */
function storedValue(written: string): unknown {
  if (/^[A-Z]+$/.test(written)) return written;
  const value = JSON.parse(written);
  return /T.*Z$/.test(value) ? new Date(value).toISOString() : value;
}

export const WEEK_1: readonly Change[] = [
  [
    'a field of each kind of type',
    async (month) => {
      const fields = FIELDS.map(([name, of]) => `  ${name}: ${of}\n`).join('');
      edit(month, ['  note: String\n', `  note: String\n${fields}  contact: Owner\n`]);
      await type(month, 'generate');
      // An index cannot be made on SQLite while rows are written.
      await type(month, 'migrate plan --zero-downtime', month.postgres ? 0 : 5);
      change(month, 'suppliers', () => ({ ...NONE, contact_id: null }));
      await settle(month, (url) =>
        create(month, url, SUPPLIER, {
          input: { name: 'Eight', contactId: '3', ...VALUES },
          row: { name: 'Eight', rating: null, details: null, note: null, contact_id: 3, ...VALUES },
        }),
      );
    },
  ],
  [
    'a required field of each kind of type, with the default that is printed',
    async (month) => {
      const fields = REQUIRED.map(({ field }) => `  ${field}\n`).join('');
      edit(month, ['  contact: Owner\n', `  contact: Owner\n${fields}  agent: Owner!\n`]);
      const { text } = await type(month, 'generate');
      for (const { verdict, atRisk } of (await plan(month, 5)).filter(({ does }) => does === 'add'))
        expect([verdict, atRisk]).toEqual(['impossible', 8]);
      expect((await type(month, 'migrate up', 5)).text).toContain('ROWS_IN_THE_WAY');
      await compare(month, 1);
      const values: Row = {};
      for (const { column, field } of REQUIRED) {
        const asked = new RegExp(
          `suppliers\\.${column} is new[^]*?as (@default\\(value: .*?\\)), or`,
        );
        const fix = printed(text, asked);
        edit(month, [`  ${field}\n`, `  ${field} ${fix}\n`]);
        const value = printed(fix, /value: (.*)\)$/);
        values[column] = field.includes('BigInt') ? Number(storedValue(value)) : storedValue(value);
      }
      expect(text).toMatch(/suppliers\.agent_id is new[^]*take "!" away, give the rows a value/);
      edit(month, ['agent: Owner!', 'agent: Owner']);
      removeNamed(month, text);
      await type(month, 'generate');
      change(month, 'suppliers', () => ({ ...values, agent_id: null }));
      await settle(month, async (url) => {
        const updates = month.model['suppliers']!.map(
          ({ id }) => `s${id}: updateSupplier(id: ${id}, input: { agentId: "2" }) { id }`,
        );
        await ask(url, `mutation { ${updates.join(' ')} }`);
        change(month, 'suppliers', () => ({ agent_id: 2 }));
      });
      edit(month, ['agent: Owner', 'agent: Owner!']);
      await type(month, 'generate');
      await settle(month);
    },
  ],
  [
    'a renamed field, a renamed type and a renamed value',
    async (month) => {
      await type(month, 'rename Owner.phone Owner.mobile --yes');
      change(month, 'owners', ({ phone, ...row }) => ({ ...row, mobile: phone }));
      for (const row of month.model['owners']!) delete row['phone'];
      await type(month, 'rename Article Page --yes');
      month.model['pages'] = month.model['articles']!;
      delete month.model['articles'];
      edit(month, ['BIRD OTHER', 'BIRD EXOTIC @renamed(from: "OTHER")']);
      await type(month, 'generate');
      const exotic = (value: unknown) => (value === 'OTHER' ? 'EXOTIC' : value);
      change(month, 'pets', ({ species }) => ({ species: exotic(species) }));
      edit(month, [' @renamed(from: "OTHER")', '']);
      await type(month, 'generate');
      expect(migrationsOf(month).slice(-3)).toEqual([
        '0005_rename_owners_phone_to_mobile',
        '0006_rename_articles_to_pages_and_more',
        '0007_change_pets_species_and_more',
      ]);
      await type(month, 'migrate plan --zero-downtime', 5);
      await settle(month, async (url) => {
        const found = await ask(url, '{ pages(search: "fleas", limit: 10) { id } }');
        expect(found.pages).toHaveLength(6);
        await ask(url, 'mutation { deletePage(id: 2) }');
        await noteRemoved(month, 'pages', 2);
      });
    },
  ],
  [
    'wider types: Int to BigInt, Int to Decimal, a number to a text, one value to many letters',
    async (month) => {
      edit(
        month,
        ['minutes: Int', 'minutes: BigInt'],
        ['chip: Int', 'chip: Decimal'],
        ['grade: Int\n', 'grade: String\n'],
      );
      await type(month, 'generate');
      const text = (value: unknown) => (value === null ? null : String(value));
      change(month, 'pets', ({ chip }) => ({ chip: text(chip) }));
      change(month, 'suppliers', ({ grade }) => ({ grade: text(grade) }));
      await settle(month);
    },
  ],
  [
    'a shorter text, which rows are too long for, by the way that is printed',
    async (month) => {
      edit(month, ['name: String!\n  price', 'name: String! @constraint(maxLength: 12)\n  price']);
      await type(month, 'generate');
      const [step] = await plan(month, 5);
      expect(step).toMatchObject({ object: 'treatments.name', verdict: 'impossible', atRisk: 10 });
      expect(step!.fix).toContain('have a value outside: change them');
      await type(month, 'migrate up', 5);
      await compare(month, 1);
      const shorter = (name: unknown) => String(name).replace('Treatment', 'T.');
      for (const { id, name } of month.model['treatments']!)
        await month.database.store.db
          .updateTable('treatments')
          .set({ name: shorter(name) })
          .where('id', '=', id)
          .execute();
      change(month, 'treatments', ({ name }) => ({ name: shorter(name) }));
      await settle(month);
    },
  ],
  [
    'a narrower type, with consent, and killed in its commit',
    async (month) => {
      edit(month, ['rating: Float', 'rating: Int'], ['note: String', 'note: Int']);
      await type(month, 'generate');
      const [step] = (await plan(month, 5)).filter(({ object }) => object === 'suppliers.rating');
      expect(step).toMatchObject({ verdict: 'lossy', atRisk: 3 });
      const { text } = await type(month, 'migrate up', 5);
      const consent = printed(text, /MIGRATION_NEEDS_CONSENT[^]*(--allow-loss \S+) rounds them/);
      await type(month, `generate ${consent}`);
      await killed(month, COMMIT, 'before');
      await compare(month, 1);
      const round = (value: unknown) => (value === null ? null : Math.round(Number(value)));
      change(month, 'suppliers', ({ rating, note }) => ({
        rating: round(rating),
        note: round(note),
      }));
      await settle(month);
    },
  ],
];
