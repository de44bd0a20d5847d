model M
equation
		x	=	= 3;
end M;
