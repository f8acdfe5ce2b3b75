import { parseArgs } from 'node:util';
import { buildPackages } from '../generator/packages/pack.ts';
import { dryRun } from './dry-run.ts';
import { keepPacks } from './keep.ts';
import { setVersion } from './set-version.ts';

const USAGE = `npm run release -- --dry-run [--this-node] [--out FOLDER]
npm run release -- --version X.Y.Z
npm run release -- --keep`;

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    version: { type: 'string' },
    /** Keeps the packs of this version in test/releases. */
    keep: { type: 'boolean', default: false },
    /** The folder where the packs are written, for `npm publish`. */
    out: { type: 'string' },
    /** Installs only on the Node that runs this, and not on the newest one too. */
    'this-node': { type: 'boolean', default: false },
  },
});

if (values.version !== undefined) await setVersion(values.version);
else if (values['dry-run'])
  process.exitCode = await dryRun({ out: values.out, newestNode: !values['this-node'] });
else if (values.keep) {
  const bytes = await keepPacks(await buildPackages());
  process.stdout.write(`kept in test/releases: ${(bytes / 1e6).toFixed(1)} MB\n`);
} else {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 2;
}
