import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { services } from './engines/services.ts';

/** Prints at the end, once each, which tests were skipped, and the line that starts what they need. */
export class SkippedTests implements Reporter {
  /** Who asks for tests by name does not want to hear of the others. */
  private byName = false;

  onInit({ config }: Vitest): void {
    this.byName = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.byName) return;
    const skipped = modules.flatMap((file) =>
      [...file.children.allTests('skipped')].map(
        (test) => `${file.relativeModuleId}: ${test.fullName}`,
      ),
    );
    const away = Object.values(services).filter(({ variable }) => !process.env[variable]);
    if (skipped.length > 0)
      console.log(`Skipped:\n${skipped.map((name) => `  ${name}\n`).join('')}`);
    if (away.length > 0)
      console.log(
        `Nothing was tested on ${away.map(({ title }) => title).join(', ')}. ` +
          'To start what this machine has, and run every test:\n' +
          '  eval "$(npx node test/engines/start.ts)" && npm run test:all\n',
      );
  }
}
