import { parseArgs } from 'node:util';
import { dryRun } from './dry-run.ts';
import { setVersion } from './set-version.ts';

const USAGE = `npm run release -- --dry-run
npm run release -- --version X.Y.Z`;

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    version: { type: 'string' },
    /** The folder where the packs are written, for `npm publish`. */
    out: { type: 'string' },
  },
});

if (values.version !== undefined) await setVersion(values.version);
else if (values['dry-run']) process.exitCode = await dryRun(values.out);
else {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
}
