/** Makes calls of Lingui's macros before anything else reads the file; Lingui brings them as a plug-in of Babel alone. */

import { type NodePath, type PluginObj, transformAsync, types } from "@babel/core";
import { compileMessage } from "@lingui/message-utils/compileMessage";
import type { Plugin } from "vite";

// The English text stays in each call, so that English needs no catalogue and a missing translation shows it.
const MACROS = ["@lingui/babel-plugin-lingui-macro", { stripMessageField: false }] as const;

/** A message as the list of its parts, which the browser can fill without a parser of messages (7 kB). */
function compiled(message: string) {
  return types.valueToNode(compileMessage(message));
}

const compiledMessages: PluginObj = {
  visitor: {
    Program: {
      exit(program: NodePath) {
        program.traverse({
          ObjectProperty({ node }) {
            if (types.isIdentifier(node.key, { name: "message" }) && types.isStringLiteral(node.value))
              node.value = compiled(node.value.value);
          },
          JSXAttribute({ node }) {
            if (node.name.name !== "message" || !types.isJSXExpressionContainer(node.value)) return;
            const text = node.value.expression;
            if (types.isStringLiteral(text)) node.value.expression = compiled(text.value);
          },
        });
      },
    },
  },
};

export function linguiMacros(): Plugin {
  return {
    name: "lingui-macros",
    enforce: "pre",
    transform: {
      filter: { id: /\.tsx?$/, code: /@lingui\/\w+\/macro/ },
      async handler(code, filename) {
        const result = await transformAsync(code, {
          babelrc: false,
          configFile: false,
          filename,
          parserOpts: { plugins: ["typescript", "jsx"] },
          plugins: [[...MACROS], compiledMessages],
          sourceMaps: true,
        });
        return result?.code ? { code: result.code, map: result.map ?? null } : null;
      },
    },
  };
}
