/**
 * Texts of answers that a release changes on purpose, each with its reason. `CHANGELOG.md` has those
 * that a client could notice. An answer may differ from the recorded one in nothing else.
 */
const LISTED: readonly { readonly since: string; readonly text: string; readonly now: string }[] = [
  // The file may be there, and its function not yet in the list that `generate` writes.
  {
    since: '0.1.0',
    text: '.ts","locations"',
    now: '.ts and run npm run generate","locations"',
  },
];

/** A recorded answer as a release after `version` gives it. */
export const withListedChanges = (body: string, version: string): string =>
  LISTED.filter(({ since }) => since === version).reduce(
    (changed, { text, now }) => changed.replaceAll(text, now),
    body,
  );
