import { afterEach, expect, it } from 'vitest';
import { watchedDocuments } from '../../../generator/documents/watched-documents.ts';
import { makeProject, type TestProject } from '../project.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

function watched(manifest: string) {
  const project = makeProject({ 'manifest.yaml': manifest });
  made.push(project);
  return watchedDocuments(project.root);
}

it('dev follows the documents of codegen and the plugins of the project, and no output', () => {
  const { folders, has } = watched(`name: shop
client: { documents: ["../web/src/*.graphql"], out: ../web/api/ }
codegen:
  ../app/gql/: { preset: client, documents: ["../app/**/*.tsx", "!../app/old/**"] }
  src/names.ts: { plugins: [./codegen/mine.ts, { ../shared/other.ts: { word: x } }] }
`);
  expect([...folders].sort()).toEqual(['../app', '../shared', '../web/src']);
  const paths = [
    '../web/src/a.graphql',
    '../app/page.tsx',
    '../app/gql/page.tsx',
    'codegen/mine.ts',
    '../shared/other.ts',
    'codegen/not.ts',
  ];
  expect(paths.filter(has)).toEqual([
    '../web/src/a.graphql',
    '../app/page.tsx',
    'codegen/mine.ts',
    '../shared/other.ts',
  ]);
});

it.each(['', 'name: [', 'codegen: 7', 'codegen: { a: null }', 'client: 1'])(
  'a manifest that is wrong has no documents: %j',
  (manifest) => expect(watched(manifest).folders).toEqual([]),
);
