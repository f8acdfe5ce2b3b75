import { describe, expect, it } from 'vitest';
import { newDefaultsOf, withPinnedDefaults } from '../../schema/changed-defaults.ts';
import { defineApp } from '../../runtime/core/app.ts';
import { VERSION } from '../../runtime/core/version.ts';
import { manifestSchema } from '../../schema/manifest-schema.ts';
import { parseManifest } from '../../schema/parse/manifest.ts';
import { readProject } from '../../schema/read-project.ts';
import { compareVersions, otherRelease, releaseOf } from '../../schema/releases.ts';

const change = (release: string, path: string, before: unknown, after: unknown) => ({
  release,
  path: path.split('.'),
  before,
  after,
  reason: 'it is better',
});
const changes = [
  change('0.2', 'api.limits.depth', 12, 9),
  change('0.2', 'auth.password.min_length', 8, 12),
  change('0.3', 'api.limits.depth', 9, 3),
];
const pinned = (data: Record<string, unknown>) => withPinnedDefaults(data, manifestSchema, changes);

describe('a default that a release changes', () => {
  it('stays what it was in the release that the manifest names, and in the first one without a name', () => {
    const api = (depth: number) => ({ api: { limits: { depth } } });
    expect(pinned({ name: 'a' })).toEqual({ name: 'a', ...api(12) });
    expect(pinned({ name: 'a', defaults: '0.2' })).toMatchObject(api(9));
    expect(pinned({ name: 'a', defaults: '0.3' })).toEqual({ name: 'a', defaults: '0.3' });
  });

  it('leaves what the manifest says, and turns no section on', () => {
    expect(pinned({ api: { rest: true, limits: { depth: 4 } } })).toEqual({
      api: { rest: true, limits: { depth: 4 } },
    });
    expect(pinned({})).not.toHaveProperty('auth');
    expect(pinned({ auth: {} })).toMatchObject({ auth: { password: { min_length: 8 } } });
    expect(pinned({ auth: { password: { min_length: 20 } } })).toMatchObject({
      auth: { password: { min_length: 20 } },
    });
  });

  it('is offered until the manifest names its release', () => {
    const releases = (data: object) =>
      newDefaultsOf({ ...data }, changes).map(({ release }) => release);
    expect(releases({})).toEqual(['0.2', '0.2', '0.3']);
    expect(releases({ defaults: '0.2' })).toEqual(['0.3']);
    expect(releases({ defaults: '1' })).toEqual([]);
  });

  it('is named by a text: the number 0.10 would be 0.1', () => {
    const read = (text: string) => parseManifest({ file: 'manifest.yaml', text }).diagnostics;
    expect(read('name: a\ndefaults: "0.10"\n')).toEqual([]);
    expect(read('name: a\ndefaults: 0.10\n')).toMatchObject([{ severity: 'error' }]);
    expect(read('name: a\ndefaults: "next"\n')).toMatchObject([{ severity: 'error' }]);
  });
});

describe('code of another release', () => {
  it('is named with the command that brings it up to date', () => {
    expect(otherRelease('0.1.0', '0.1.9')).toEqual([]);
    expect(otherRelease(undefined, '0.2.0')).toEqual([]);
    expect(otherRelease('0.1.0', '0.2.0').join()).toContain('npm run generator -- upgrade');
    expect(otherRelease('1.9.0', '2.0.0')).toHaveLength(1);
    expect(otherRelease('1.2.0', '1.9.0')).toEqual([]);
    expect(otherRelease('0.3.0', '0.2.0').join()).toContain('npm install');
  });

  it('is older or newer by its numbers', () => {
    const sorted = ['0.10.0', '0.2.0', '1.0.0', '0.2.0-next.10', '0.2.0-next.2', '0.2'];
    expect(sorted.toSorted(compareVersions)).toEqual([
      ...['0.2.0-next.2', '0.2.0-next.10', '0.2.0', '0.2', '0.10.0', '1.0.0'],
    ]);
    expect([releaseOf('0.2.1'), releaseOf('3.4.5')]).toEqual(['0.2', '3']);
  });

  it('has the defaults of the settings that came after it, and keeps its own', () => {
    const manifest =
      'name: a\nauth: { profile: strict }\nhosting: { deploys: { keep: 2 } }\nconsole: {}\n';
    const { project } = readProject({
      schema: [{ file: 'schema.graphql', text: 'type Query { a: Int }' }],
      manifest: { file: 'manifest.yaml', text: manifest },
    });
    if (!project) throw new Error('the project is wrong');
    const { previews: _, ingress, ...hosting } = project.hosting!;
    const { ports: __, ...fewer } = ingress;
    const { user, lockout: ___, ...auth } = project.auth!;
    const earlier = {
      ...project,
      auth: { ...auth, user } as typeof project.auth,
      hosting: { ...hosting, ingress: fewer } as typeof project.hosting,
    };
    expect(defineApp({ project: earlier, generatedBy: '0.0.1' }).project).toEqual(project);
    expect(defineApp({ project: earlier, generatedBy: VERSION }).project).toBe(earlier);
  });
});
