import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  comparable,
  type ConformanceCase,
  expected,
  serve,
  withoutIncremental,
} from './conformance.ts';

/**
 * The whole corpus: `node test/graphql/run-conformance.ts <checkout>/corpus`, of
 * https://github.com/jbellenger/graphql-conformance. Prints each case that differs.
 */
const [corpus = ''] = process.argv.slice(2);
const folders = (path: string) =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name));

/** The operations of a schema, once for each set of variables. */
function* casesOf(folder: string, schema: string): Generator<readonly [string, ConformanceCase]> {
  for (const place of folders(folder)) {
    const query = withoutIncremental(readFileSync(join(place, 'query.graphql'), 'utf8'));
    const given = folders(place).filter((each) => existsSync(join(each, 'variables.json')));
    if (given.length === 0) yield [place, { schema, query, variables: {} }];
    for (const each of given) {
      const variables = JSON.parse(readFileSync(join(each, 'variables.json'), 'utf8'));
      yield [each, { schema, query, variables }];
    }
  }
}

const counts = { cases: 0, same: 0, unanswerable: 0, different: 0 };
for (const folder of folders(corpus)) {
  const schema = withoutIncremental(readFileSync(join(folder, 'schema.graphqls'), 'utf8'));
  let ask: ReturnType<typeof serve> | undefined;
  for (const [place, asked] of casesOf(folder, schema)) {
    counts.cases += 1;
    try {
      const wanted = comparable(await expected(asked));
      ask ??= serve(schema);
      const got = comparable(await ask(asked));
      if (got === wanted) counts.same += 1;
      else {
        counts.different += 1;
        console.log(`${place}\n  ${wanted.slice(0, 500)}\n  ${got.slice(0, 500)}`);
      }
    } catch (error) {
      counts.unanswerable += 1;
      console.log(`${place}\n  ${String(error).slice(0, 300)}`);
    }
  }
}
console.log(JSON.stringify(counts));
process.exitCode = counts.different > 0 ? 1 : 0;
