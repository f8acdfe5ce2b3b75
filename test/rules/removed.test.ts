import { expect, it } from 'vitest';
import { startServer } from '../graphql/harness.ts';
import { insert } from './project.ts';

const SDL = `
  type Team @entity(softDelete: true) { id: ID! name: String! people: [Person!]! }
  type Person { id: ID! name: String! team: Team }
  input IdOps { eq: ID in: [ID!] isNull: Boolean }
  input PersonFilter { teamId: IdOps team: TeamFilter }
  input TeamFilter { name: TextOps } input TextOps { eq: String }
  type Query { people(where: PersonFilter, teamId: ID): [Person!]! }
`;

it('the key of a softly removed row is no value, as the relation has none', async () => {
  const server = await startServer(SDL);
  await insert(server.store, {
    teams: [{ name: 'there' }, { name: 'gone', deleted_at: '2026-01-01T00:00:00.000Z' }],
    people: [
      { name: 'Ada', team_id: 1 },
      { name: 'Bo', team_id: 2 },
    ],
  });
  const named = async (args: string) =>
    (await server.query(`{ people${args} { name } }`)).data.people.map(({ name }: any) => name);
  expect(await named('(where: { teamId: { in: ["1", "2"] } })')).toEqual(['Ada']);
  expect(await named('(where: { teamId: { isNull: true } })')).toEqual(['Bo']);
  expect(await named('(where: { team: null })')).toEqual(['Bo']);
  expect(await named('(teamId: 2)')).toEqual([]);
  await server.close();
});
