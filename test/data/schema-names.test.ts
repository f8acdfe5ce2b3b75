import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { readProject } from '@twofold/schema';
import { describe, expect, it } from 'vitest';
import { indexModel } from '../../runtime/core/data/model.ts';
import { schemaNames } from '../../runtime/core/schema-names/index.ts';

const SDL = `
  type Query { regions: [Region!]! musicRegions: [MusicRegion!]! tracks: [Track!]! }
  type Region { id: ID! fullName: String! }
  type MusicRegion @table(name: "regions", schema: "music") { id: ID! title: String @column(name: "Label") }
  type Track @table(name: "track_list", schema: "music") { id: ID! playTime: Int }
`;

function namedDatabase(): Kysely<any> {
  const { project } = readProject({
    schema: [{ file: 'schema.graphql', text: SDL }],
    manifest: { file: 'manifest.yaml', text: 'name: x\ndatabase: { managed: false }\n' },
  });
  const db = new Kysely<any>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (each) => new PostgresIntrospector(each),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  return db.withPlugin(schemaNames(indexModel(project!)));
}

describe('the names of ctx.db in several schemas of PostgreSQL', () => {
  const db = namedDatabase();
  const text = (query: { compile(): { readonly sql: string } }) => query.compile().sql;

  it('has a table by its schema and name, with its own columns', () => {
    expect(text(db.selectFrom('music.trackList').select(['id', 'playTime']))).toBe(
      'select "id", "play_time" as "playTime" from "music"."track_list"',
    );
  });

  it('tells two tables of one name apart', () => {
    expect(text(db.selectFrom('music.regions').select('title'))).toBe(
      'select "Label" as "title" from "music"."regions"',
    );
    expect(text(db.selectFrom('regions').select('fullName'))).toBe(
      'select "full_name" as "fullName" from "regions"',
    );
  });
});
