#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rows.py ROOT INCLUDE SONAME... -- the rows of shim/bind/entries.def as calls, in C.

Reads each row's parameters in NVIDIA's headers (in the folder INCLUDE) and
writes a call by name and by pointer, with the types reduced to what the ABI
tells apart: answers.c includes the result and no header of NVIDIA's, so that
the names of all libraries, legacy ones too, meet in one program. Rows of other
libraries than those called SONAME are left out."""
import pathlib
import re
import sys

HEADERS = ('cublas_api.h', 'cublas.h', 'cublasXt.h', 'cublasLt.h',
           'cudnn_graph.h', 'cudnn_ops.h', 'cudnn_cnn.h', 'cudnn_adv.h',
           'cudnn_backend.h', 'cudnn.h', 'cusolverDn.h')
LIBRARIES = (('cublasLt', 'libcublasLt'), ('cublas', 'libcublas'),
             ('cudnn', 'libcudnn'), ('cusolver', 'libcusolver'))
BY_VALUE = {'float': 'float', 'double': 'double',
            'cuComplex': 'float _Complex', 'cuDoubleComplex': 'double _Complex',
            'char': 'char', 'int': 'int', 'unsigned': 'int',
            'int64_t': 'long long', 'size_t': 'long long',
            'long long': 'long long'}


def reduced(parameter):
    """(type, value, is a handle) of one parameter's declaration."""
    words = re.sub(r'\bconst\b|\bstruct\b', ' ', parameter)
    if '*' in words or '[' in words:
        return 'void *', 'pointer', False
    kind = ' '.join(words.split()[:-1]) or words.strip()
    if re.fullmatch(r'(cublas|cublasLt|cublasXt|cudnn|cusolverDn)Handle_t', kind):
        return 'void *', 'handle', True
    if kind in BY_VALUE:
        return BY_VALUE[kind], 'number', False
    if re.search(r'(Descriptor|Desc|Stream|Handle)_t$', kind):
        return 'void *', 'pointer', False
    return 'int', 'number', False        # an enumeration


def prototypes(folder):
    """{name: (result, [parameter])} of every function that is declared."""
    found = {}
    for header in HEADERS:
        path = pathlib.Path(folder, header)
        if not path.is_file():
            continue
        text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ',
                      path.read_text(errors='replace'), flags=re.S)
        for result, name, arguments in re.findall(
                r'(\w+)\s+(?:(?:CUBLASWIN|CUDNNWIN|CUSOLVER)API\s+)?'
                r'(\w+)\s*\(([^()]*)\)\s*;', text):
            found.setdefault(name, (result, [
                a for a in arguments.split(',') if a.strip() != 'void']))
    return found


def rows(root):
    """The name of every row of the catalogue."""
    for line in pathlib.Path(root, 'shim/bind/entries.def').open():
        row = re.match(r'[A-Z]+\(.*?\b((?:cublas|cudnn|cusolver)\w+),', line)
        if row:
            yield row.group(1)


def emit(number, name, prototype):
    result, parameters = prototype
    types, values = [], []
    for i, parameter in enumerate(parameters):
        kind, value, _ = reduced(parameter)
        types.append(kind)
        values.append({'handle': 'handle', 'number': f'({kind})in->number',
                       'pointer': f'in->pointer[{i}]'}[value])
    void = result == 'void'
    print(f'typedef {"void" if void else "int"} fn_{number}'
          f'({", ".join(types) or "void"});')
    print(f'extern fn_{number} {name};')
    print(f'static int\ncall_{number}(void *fn, void *handle, '
          'const struct input *in)\n{\n\t(void)handle, (void)in;')
    arguments = ', '.join(values)
    call = f'fn ? ((fn_{number} *)(uintptr_t)fn)({arguments}) : {name}({arguments})'
    print(f'\t{call};\n\treturn VOID;\n}}' if void else f'\treturn {call};\n}}')


def main():
    root, folder, *sonames = sys.argv[1:]
    known = prototypes(folder)
    table = []
    for number, name in enumerate(dict.fromkeys(rows(root))):
        library = next(l for prefix, l in LIBRARIES if name.startswith(prefix))
        soname = next((s for s in sonames if s.startswith(library + '.')), None)
        if soname is None:
            continue
        if name not in known:
            sys.exit(f'rows.py: no header in {folder} declares {name}')
        emit(number, name, known[name])
        has_handle = any(reduced(p)[2] for p in known[name][1][:1])
        table.append(f'\t{{ "{name}", "{soname}", call_{number}, '
                     f'{int(has_handle)} }},')
    print('static const struct row rows[] = {')
    print('\n'.join(table))
    print('};')


main()
