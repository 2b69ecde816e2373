/**
 * How a bundle in the form of a script begins: it is a function that gets `exports`, `require` and `module`, followed by its
 * source map. Any other bundle is a module.
 */
export const SCRIPT_START = '(function(exports,require,module){"use strict";';
