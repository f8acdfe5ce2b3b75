import { parseArgs } from 'node:util';
import { dryRun } from './dry-run.ts';
import { setVersion } from './set-version.ts';

const USAGE = `npm run release -- --dry-run [--this-node] [--out FOLDER]
npm run release -- --version X.Y.Z`;

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    version: { type: 'string' },
    /** The folder where the packs are written, for `npm publish`. */
    out: { type: 'string' },
    /** Installs only on the Node that runs this, and not on the newest one too. */
    'this-node': { type: 'boolean', default: false },
  },
});

if (values.version !== undefined) await setVersion(values.version);
else if (values['dry-run'])
  process.exitCode = await dryRun({ out: values.out, newestNode: !values['this-node'] });
else {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
}
