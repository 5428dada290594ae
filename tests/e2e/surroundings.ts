/** What the Python side says of the iotide under test. */

/** A variable that `test_browser.py` sets. */
export function given(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start these tests by \`uv run pytest tests/e2e\``);
  return value;
}
