import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { examples } from '../../site/playground/examples.ts';
import { pages } from '../docs/page.ts';
import { root } from '../source-files.ts';

/** The two files of a project. */
export interface Sample {
  readonly name: string;
  readonly schema: string;
  readonly manifest: string;
}

const text = (path: string) => readFileSync(join(root, path), 'utf8');

/** The examples of the playground and of the repository, then every schema of the documentation. */
export function sampleSchemas(): Sample[] {
  return [
    ...examples,
    ...['blog', 'company', 'conduit'].map((name) => ({
      name,
      schema: text(`examples/${name}/schema.graphql`),
      manifest: text(`examples/${name}/manifest.yaml`),
    })),
    ...pages().flatMap(({ path, blocks }) =>
      blocks.flatMap((block, at) => {
        if (block.role !== 'schema' || block.options['finding'] !== undefined) return [];
        const before = blocks[at - 1];
        // The documents of a front end are in a folder beside the project.
        if (/^client:/m.test(before?.text ?? '')) return [];
        const own = before?.role === 'manifest' && before.options['finding'] === undefined;
        return [
          {
            name: `${path}:${block.line}`,
            schema: block.text,
            manifest: own ? before.text : 'name: page\n',
          },
        ];
      }),
    ),
  ];
}
