/**
 * `npm run docs`: the site of the documentation, into `.build/site/dist`. `-- --serve` serves it on
 * a port of this machine and follows changes of the pages.
 */
import { parseArgs } from 'node:util';
import { build, createServer } from 'vitepress';
import { output } from './folders.ts';
import { checkLinks } from './check-links.ts';
import { sitePages, stage } from './stage.ts';

const { values } = parseArgs({ options: { serve: { type: 'boolean', default: false } } });
const home = import.meta.dirname;

stage(sitePages());
if (values.serve) {
  const server = await createServer(home);
  await server.listen();
  server.printUrls();
} else {
  await build(home);
  checkLinks(output);
  process.stdout.write(`built  ${output}\n`);
}
