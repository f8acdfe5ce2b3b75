import { readProject } from '@twofold/schema';
import { expect, it } from 'vitest';
import { decodeRow, entityOf, indexModel } from '../../runtime/core/data/model.ts';

const SDL = `
type Cat { id: ID! name: String! }
type Dog implements Named { id: ID! name: String! }
type Bird { id: ID! name: String! }
interface Named { name: String! }
union Pet = Cat
type Query { pet: Pet named: Named birds: [Bird!]! cats: [Cat!]! dogs: [Dog!]! }
`;

it('is known by a row of user code where a field may answer with several, and nobody sees it', () => {
  const { project } = readProject({
    schema: [{ file: 'schema.graphql', text: SDL }],
    manifest: null,
  });
  if (!project) throw new TypeError('the schema is not valid');
  const model = indexModel(project);
  const types = ['Cat', 'Dog', 'Bird'].map((name) => {
    const row = decodeRow(model.entity(name), { id: 1, name: 'a' });
    expect([Object.keys(row), { ...row }]).toEqual([['id', 'name'], { id: 1, name: 'a' }]);
    return entityOf(row);
  });
  expect(types).toEqual(['Cat', 'Dog', undefined]);
});
