// eval "$(npx node test/engines/stop.ts)" stops what start.ts started in this shell, and unsets its variables.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { currentDirectory, directoryVariable, removeDirectory } from './directory.ts';
import { services } from './services.ts';

const directory = process.argv[2] ?? currentDirectory();
if (!directory || !existsSync(directory)) {
  console.error(
    `nothing to stop: ${directoryVariable} names no folder; give the folder as an argument`,
  );
  process.exit(2);
}
for (const [name, { stop, title }] of Object.entries(services)) {
  const own = join(directory, name);
  if (existsSync(own))
    await stop(own).catch((error: Error) =>
      console.error(`${title} was not stopped: ${error.message}`),
    );
}
removeDirectory(directory);
console.log(
  `unset ${[directoryVariable, ...Object.values(services).map(({ variable }) => variable)].join(' ')}`,
);
